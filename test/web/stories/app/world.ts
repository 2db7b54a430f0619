import type { MachineMetadata } from '../../../../lib/protocol/sealed/machine.ts'
import type { AgentState, PermissionRequest, SessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import type { Home, MachineView, SessionView } from '../../../../web/model/store.ts'
import { callback, folder } from '../fixtures.ts'
import { choices } from '../transcripts.ts'

const minute = 60_000
const now = Date.now()

const methods = ['processes', 'end-process', 'worktrees', 'agent-histories', 'search-histories', 'restart', 'update', 'log', 'keep-awake']
const more = ['rules', 'rules-set', 'rules-remove', 'rules-pause', 'rules-try', 'decisions', 'make-folder', 'complete-path']

function machine(id: string, host: string, platform: string, given: Partial<MachineView> = {}): MachineView {
  const metadata: MachineMetadata = {
    host,
    platform,
    happyCliVersion: '0.1.0',
    homeDir: '/home/mira',
    happyHomeDir: '/home/mira/.afield',
    methods: [...methods, ...more]
  }
  return {
    id,
    isActive: true,
    activeAt: now - 4000,
    createdAt: now - 90 * 24 * 60 * minute,
    metadata,
    daemonState: { status: 'running', startedAt: now - 6.2 * 24 * 60 * minute },
    ...given
  }
}

export const studio = machine('m1', 'studio-mini', 'darwin')
export const buildBox = machine('m2', 'build-box', 'linux')
export const thinkpad = machine('m3', 'thinkpad', 'linux', { isActive: false, activeAt: now - 130 * minute })
export const stopped = { ...thinkpad, daemonState: { status: 'offline', shutdownRequestedAt: now - 131 * minute } }

interface Given extends Partial<Omit<SessionView, 'metadata' | 'last'>> {
  title: string
  on?: MachineView
  path?: string
  agent?: string
  ago?: number
  line?: string
  /** The last line is a command. */
  command?: NonNullable<SessionView['last']>['command']
  end?: 'completed' | 'failed' | 'cancelled'
  metadata?: Partial<SessionMetadata>
}

let made = 0

/** A session as Home knows it; `ago` is in minutes. */
export function session({
  title,
  on = studio,
  path = folder,
  agent = 'claude',
  ago = 1,
  line,
  command,
  end,
  metadata,
  ...given
}: Given): SessionView {
  const at = now - ago * minute
  const seq = given.seq ?? 12
  return {
    id: `home${made++}`,
    seq,
    isActive: true,
    activeAt: at,
    isThinking: false,
    createdAt: at - 30 * minute,
    updatedAt: at,
    dataEncryptionKey: null,
    agentState: null,
    last: line === undefined ? undefined : { seq, at, text: line, ...(end && { end }), ...(command && { command }) },
    ...given,
    metadata: {
      path,
      host: on.metadata?.host ?? '',
      machineId: on.id,
      flavor: agent,
      afieldVersion: '0.1.0',
      gitBranch: 'main',
      summary: { text: title, updatedAt: at },
      ...metadata
    }
  }
}

const force = 'git push --force-with-lease origin main\n  && ./scripts/deploy.sh production'
const asksForCommand = (command: string, ago: number): AgentState => ({
  requests: { p1: { tool: 'Bash', kind: 'execute', arguments: { command }, createdAt: now - ago * minute, shown: 'h' } }
})
const asksPlainly = (request: Partial<PermissionRequest> & { tool: string }): AgentState => ({
  requests: {
    p1: {
      arguments: {},
      createdAt: now - 3 * minute,
      shown: 'h',
      choices,
      risk: { level: 'plain', reasons: [], knowsEdits: true },
      ...request
    }
  }
})
const asksWhichStore: AgentState = {
  requests: {
    q1: {
      tool: 'AskUserQuestion',
      arguments: {},
      createdAt: now - 6 * minute,
      shown: 'h',
      form: {
        questions: [
          {
            id: 'store',
            question: 'Which store should hold refresh tokens?',
            multiSelect: false,
            options: [{ value: 'redis', label: 'Redis, as for sessions' }],
            allowsOther: true,
            isRequired: true
          }
        ]
      }
    }
  }
}

export const publish = session({ title: 'Publish hotfix 2.4.1', ago: 2, line: 'Publishing', agentState: asksForCommand(force, 2) })
export const tokens = session({
  title: 'Move tokens out of cookies',
  on: buildBox,
  path: '/home/mira/work/orchard-web',
  agent: 'codex',
  ago: 6,
  line: 'I ask before I start',
  agentState: asksWhichStore
})
export const plainAsk = session({ title: 'Tidy the build', ago: 3, line: 'Building', agentState: asksForCommand('npm run build', 3) })
export const buildAsk = session({
  title: 'Bump esbuild',
  ago: 3,
  line: 'Building',
  agentState: asksPlainly({ tool: 'Bash', kind: 'execute', arguments: { command: 'npm run build' } })
})
export const editAsk = session({
  title: 'SSO loses return path',
  ago: 3,
  line: 'Editing',
  agentState: asksPlainly({ tool: 'Edit', kind: 'edit', content: [{ type: 'diff', ...callback }], locations: [callback.path] })
})
export const hiddenAsk = session({
  title: 'Read the state once',
  ago: 3,
  line: 'Editing',
  agentState: asksPlainly({
    tool: 'Edit',
    kind: 'edit',
    content: [{ type: 'diff', ...callback, path: `${folder}/src/\u202esafe\u202c.ts` }]
  })
})
export const limited = session({
  title: 'Upgrade Postgres to 17',
  ago: 3,
  line: 'You have hit your limit.',
  end: 'completed',
  metadata: { usageWindows: [{ minutes: 300, usedPercent: 100, resetsAt: now + 96 * minute, isReached: true }] }
})
export const sealedAsk = session({ title: 'Rotate the signing keys', ago: 2, line: 'Reading', agentState: undefined })
export const moving = [
  session({
    title: 'SSO loses return path',
    ago: 2,
    line: 'npm test',
    command: { call: 'c1', hasRun: false },
    agentState: {
      requests: {},
      completedRequests: {
        a1: { tool: 'Bash', arguments: {}, createdAt: now - 2 * minute, completedAt: now - 0.2 * minute, status: 'approved' }
      }
    },
    isThinking: true,
    metadata: {
      progress: { done: 3, all: 5 },
      models: [
        { code: 'opus', value: 'Opus' },
        { code: 'sonnet', value: 'Sonnet' }
      ]
    }
  }),
  session({
    title: 'Bump esbuild and drop Babel',
    on: buildBox,
    path: '/home/mira/work/field-notes',
    agent: 'opencode',
    ago: 5,
    line: '2 subagents reading the build scripts',
    isThinking: true,
    metadata: { progress: { done: 1, all: 14 } }
  })
]
export const resting = [
  session({
    title: 'Write the changelog for 2.4',
    agent: 'codex',
    path: '/home/mira/.afield/worktrees/orchard-api/write-the-changelog',
    metadata: {
      changes: { added: 48, removed: 3 },
      gitBranch: 'afield/write-the-changelog',
      worktree: {
        path: '/home/mira/.afield/worktrees/orchard-api/write-the-changelog',
        branch: 'afield/write-the-changelog',
        repository: folder,
        base: 'c0ffee'
      }
    },
    ago: 14,
    line: 'Finished. 1 file changed, tests pass.',
    end: 'completed'
  }),
  session({
    title: 'Flaky upload test',
    on: buildBox,
    path: '/home/mira/work/orchard-web',
    ago: 41,
    line: 'Stopped: the usage limit was reached',
    end: 'failed',
    isActive: false
  }),
  session({
    title: 'Dark mode for the docs',
    on: thinkpad,
    ago: 130,
    line: 'Read 4 files',
    isActive: false,
    metadata: { lifecycleState: 'running' }
  }),
  session({ title: 'Rename the tables', ago: 60 * 26, line: 'All 14 tables carry their new names.', end: 'completed', isActive: false })
]
export const idle = session({ title: 'Explain the sign-in', ago: 90, line: 'It goes through the state cookie.', end: 'completed' })
export const archived = Array.from({ length: 14 }, (_, index) =>
  session({
    title: ['Sort the imports', 'Upgrade Postgres to 17', 'Why is CI slow on Mondays', 'Translate the onboarding'][index % 4] ?? '',
    agent: index % 3 === 0 ? 'codex' : 'claude',
    on: index % 2 === 0 ? studio : buildBox,
    ago: 60 * 24 * (9 + index * 4),
    line: 'Done, and all tests pass.',
    end: 'completed',
    isActive: false
  })
)

/** Home with these; all idle ones but the first were read. */
export function homeOf(machines: readonly MachineView[], sessions: readonly SessionView[], given: Partial<Home> = {}): Home {
  return {
    machines: new Map(machines.map(each => [each.id, each])),
    sessions: new Map(sessions.map(each => [each.id, each])),
    seenSeq: new Map(sessions.filter(each => each !== resting[0]).map(({ id, seq }) => [id, seq])),
    pinned: new Set(),
    asOf: now,
    ...given
  }
}

export const machines = [studio, buildBox, thinkpad]
export const busyHome = homeOf(machines, [publish, tokens, ...moving, ...resting, ...archived])
