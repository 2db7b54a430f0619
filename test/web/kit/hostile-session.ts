import { serveSession } from '../../../lib/client/calls/calls.ts'
import type { LiveSocket } from '../../../lib/client/link/socket.ts'
import { toBase64 } from '../../../lib/crypto/index.ts'
import { questionTool } from '../../../lib/protocol/sealed/decisions/ask-user-question.ts'
import { stepKind } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentState, PermissionRequest, SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { type Evil, evilChange, evilName, evilWord, urls } from './xss.ts'

export function metadataOf(evil: Evil, machineId: string): SessionMetadata {
  const choice = (name: string) => ({
    code: name,
    value: evil(`${name}.value`),
    description: evil(`${name}.description`)
  })
  const command = evil('slash')
  const [mode, model, thought] = [choice('mode'), choice('model'), choice('thought')]
  return {
    path: `/${evilName(evil, 'session.path')}`,
    host: 'a',
    afieldVersion: evil('session.version'),
    os: 'a',
    machineId,
    agentTitle: evil('session.agent'),
    agentSessionId: evil('session.agentId'),
    summary: { text: evil('session.summary'), updatedAt: Date.now() },
    gitBranch: evil('session.branch'),
    worktree: { path: '/w', branch: evil('worktree.branch'), repository: evil('worktree.repository'), base: 'a' },
    operatingModes: [mode, { code: 'plan', value: 'Plan' }],
    currentOperatingModeCode: mode.code,
    models: [model, { code: 'm', value: 'M' }],
    currentModelCode: model.code,
    thoughtLevels: [thought, { code: 'l', value: 'L' }],
    currentThoughtLevelCode: thought.code,
    agentSettings: [
      {
        id: 's',
        name: evil('setting'),
        description: evil('setting.about'),
        isSwitch: false,
        current: 'a',
        choices: [
          { code: 'a', value: evil('setting.choice') },
          { code: 'b', value: 'B' }
        ]
      }
    ],
    slashCommands: [command, 'constructor'],
    slashDescriptions: { [command]: evil('slash.description') },
    methods: [
      'setMode',
      'setModel',
      'setEffort',
      'gitStatus',
      'gitDiff',
      'gitLog',
      'gitShow',
      'gitCommit',
      'searchText',
      'findFiles',
      'listDirectory',
      'readFile',
      'rules-try'
    ]
  }
}

/** An open request of every kind: as a permission, a plan, a form and a page to open. */
export function stateOf(evil: Evil, { isAsking }: { isAsking: boolean }): AgentState {
  const requests = stepKind.options.map((kind, index): [string, PermissionRequest] => {
    const at = `ask.${kind}`
    const path = `/${evilName(evil, `${at}.path`)}`
    const content =
      kind === 'edit' ? { type: 'diff' as const, path, ...evilChange(evil, at) } : { type: 'text' as const, text: evil(`${at}.said`) }
    // A second option of one kind makes it a choice in the agent's own words.
    const isNamed = ['think', 'other'].includes(kind)
    const isOwn = ['think', 'plan'].includes(kind)
    const twin = { id: `${index}.c`, label: isOwn ? evil(`${at}.twin`) : '', kind: 'allow_once' as const }
    return [
      at,
      {
        tool: isNamed ? evil(`${at}.tool`) : kind,
        arguments: {
          // The words that make a command risky are highlighted.
          ...(kind === 'execute' && { command: `rm ${evilWord(evil, `${at}.risk`)} -rf ${evil(`${at}.command`)}` }),
          ...(kind === 'fetch' && { url: evil(`${at}.url`) }),
          cwd: `/${evilName(evil, `${at}.cwd`)}`,
          description: evil(`${at}.reason`),
          [evil(`${at}.key`)]: evil(`${at}.value`)
        },
        createdAt: index + 1,
        ...(kind === 'fetch' && { title: evil(`${at}.title`) }),
        kind,
        content: [content],
        locations: [path],
        choices: [
          { id: `${index}.a`, label: isOwn ? evil(`${at}.choice`) : 'Yes', kind: 'allow_once' },
          { id: `${index}.b`, label: 'No', kind: 'reject_once' },
          ...(isOwn ? [twin] : [])
        ],
        shown: 'x'
      }
    ]
  })
  return {
    requests: isAsking ? { ...Object.fromEntries(requests), short: shortRequest(evil), ...Object.fromEntries(questionsOf(evil)) } : {},
    completedRequests: {
      done: {
        tool: evil('done.tool'),
        arguments: { command: evil('done.command') },
        createdAt: Date.now(),
        completedAt: Date.now() + 60_000,
        status: 'denied',
        reason: evil('done.reason'),
        answeredBy: evil('done.by')
      },
      ruled: {
        tool: 'Bash',
        arguments: {},
        createdAt: Date.now(),
        completedAt: Date.now() + 60_000,
        status: 'approved',
        title: 'ruled',
        rule: evil('done.rule')
      }
    }
  }
}

/** A request short enough for a list, and plain enough for a rule. */
function shortRequest(evil: Evil): PermissionRequest {
  return {
    tool: 'Bash',
    kind: 'execute',
    arguments: { command: evilWord(evil, 'short.command') },
    createdAt: 0,
    choices: [
      { id: 'a', label: 'Yes', kind: 'allow_once' },
      { id: 'b', label: evil('short.session'), kind: 'allow_always' },
      { id: 'c', label: 'No', kind: 'reject_once' }
    ],
    suggestedRule: { on: 'command', pattern: evil('short.pattern').slice(0, 1000), folder: `/${evilName(evil, 'short.folder')}` },
    shown: 'x'
  }
}

/** A form of ours, one in the format of Happy's CLI, and pages to open. */
function questionsOf(evil: Evil): [string, PermissionRequest][] {
  const link = (title: string, url: string, createdAt: number): PermissionRequest => {
    return { tool: questionTool, arguments: {}, createdAt, title, url, shown: 'x' }
  }
  return [
    ['form', form(evil)],
    ['happy', { tool: questionTool, arguments: { questions: [plainQuestion(evil)] }, createdAt: 21 }],
    ['link', link(evil('link.title'), evil('link.url'), 30)],
    // A bare address, where one is expected.
    ...urls.map((url, index): [string, PermissionRequest] => [`link.${index}`, link('Open it', url, 31 + index)])
  ]
}

function plainQuestion(evil: Evil) {
  const options = [{ label: evil('happy.label'), description: evil('happy.description') }]
  return { question: evil('happy.question'), header: evil('happy.header'), options, multiSelect: false }
}

function form(evil: Evil): PermissionRequest {
  return {
    tool: questionTool,
    arguments: {},
    createdAt: 20,
    shown: 'x',
    form: {
      questions: [
        {
          id: 'q',
          question: evil('form.question'),
          multiSelect: false,
          options: [{ value: 'v', label: evil('form.label'), description: evil('form.description') }],
          allowsOther: true,
          isRequired: false
        },
        { id: 'r', question: evil('form.other'), multiSelect: false, options: [], allowsOther: true, isRequired: false }
      ]
    }
  }
}

export async function serveFolder(
  socket: LiveSocket,
  cipher: Parameters<typeof serveSession>[0]['cipher'],
  session: string,
  evil: Evil,
  { isClean }: { isClean: boolean }
): Promise<void> {
  const path = (name: string) => `${evilName(evil, `${name}.folder`)}/${evilName(evil, name)}`
  const changed = {
    path: path('git.path'),
    letter: 'R' as const,
    from: path('git.from'),
    isStaged: true,
    isUnstaged: true,
    added: 1,
    removed: 1,
    mark: 'x'
  }
  const commit = { id: 'abcdef12', parents: [], author: evil('git.author'), at: 1, subject: evil('git.subject') }
  const answers = {
    status: {
      isRepository: true as const,
      branch: evil('git.branch'),
      head: 'a',
      upstream: 'a',
      ahead: 1,
      behind: 1,
      files: isClean ? [] : [changed, { ...changed, path: 'a.ts' }, { ...changed, path: path('git.next') }]
    },
    diff: { type: 'text' as const, ...evilChange(evil, 'git') },
    refused: { type: 'refused' as const, why: 'failed' as const, says: evil('git.says') },
    shown: { ...commit, body: evil('git.body'), files: [{ ...changed, path: path('git.shown') }] },
    text: {
      files: [{ path: path('found.path'), lines: [{ number: 1, text: evil('found.text'), ranges: [{ from: 0, to: 60 }] }] }],
      isCut: true
    },
    files: { paths: [path('found.file')], isCut: true },
    list: { success: true as const, entries: [{ name: evil('list.name'), type: 'file' as const, size: 1 }] },
    file: { success: true as const, content: toBase64(new TextEncoder().encode(evil('file.content').replaceAll('\0', ''))) }
  }
  const trial = { looked: 1, passed: 1, entries: [{ at: 1, what: evil('before.what'), answer: 'denied' as const }] }
  const refusal = evil('answer.refusal')
  await serveSession({
    socket,
    cipher,
    session,
    handlers: {
      gitStatus: () => answers.status,
      gitDiff: () => answers.diff,
      gitCommit: () => answers.refused,
      gitLog: () => ({ commits: [commit], hasMore: false }),
      gitShow: () => answers.shown,
      searchText: () => answers.text,
      findFiles: () => answers.files,
      listDirectory: ({ path }) => (/\.\w+$/.test(path) ? { success: false, error: 'ENOTDIR' } : answers.list),
      readFile: () => answers.file,
      'rules-try': () => trial,
      permission: () => Promise.reject(new Error(refusal)),
      communication: () => Promise.reject(new Error(refusal))
    }
  }).registered
}
