import type { ResultOfCall, SessionCall } from '../../../../lib/protocol/sealed/calls/calls.ts'
import type { MachineCall, ResultOfMachineCall } from '../../../../lib/protocol/sealed/calls/machine-calls.ts'
import { deviceId, inviteId, sessionId, tokenId } from '../../../../lib/protocol/wire/ids.ts'
import type { JsonRouteName, ReplyOf } from '../../../../lib/protocol/wire/routes.ts'
import * as v from '../../../../lib/schema.ts'
import { folder } from '../fixtures.ts'
import { archived, moving, publish } from './world.ts'

const minute = 60_000
const now = Date.now()

/** The server's answers; a number is an error status. A route without an entry never answers. */
export type ServerResponses = { readonly [Name in JsonRouteName]?: ReplyOf<Name> | number }
/** Also of the wrapper of a session. */
export type MachineResponses = {
  readonly [Name in MachineCall | SessionCall]?: Name extends MachineCall
    ? ResultOfMachineCall<Name> | { error: string }
    : Name extends SessionCall
      ? ResultOfCall<Name> | { error: string }
      : never
}

const device = (id: string, name: string, ago: number, current = false) => ({
  id: v.parse(deviceId, id),
  kind: id.startsWith('t') ? ('terminal' as const) : ('account' as const),
  name,
  renews: true,
  createdAt: now - 90 * 24 * 60 * minute,
  lastUsedAt: now - ago * minute,
  lastUsedFrom: '192.0.2.0/24',
  current
})

const decided = {
  folder,
  on: 'command' as const,
  tool: 'Bash',
  paths: [],
  isOdd: false,
  level: 'plain' as const,
  reasons: [],
  by: 'Tablet',
  device: 'd2'
}

const storage: ReplyOf<'readStorage'> = {
  sessions: 86,
  messages: 48_312,
  bytes: { messages: 91_400_000, attachments: 12_300_000, artifacts: 0, state: 740_000 },
  quotas: { sessions: null, messages: null, bytes: null },
  keepSessionsDays: null
}
export const limitedStorage: ReplyOf<'readStorage'> = {
  ...storage,
  bytes: { ...storage.bytes, artifacts: 45_000 },
  quotas: { sessions: 10_000, messages: 5_000_000, bytes: 20 * 1024 ** 3 },
  keepSessionsDays: 90
}

/** The computer was linked twice. */
export const twoOfOneName: ReplyOf<'listDevices'> = {
  devices: [device('d1', 'Chrome on Android', 0, true), device('t3', 'studio-mini', 1), device('t4', 'studio-mini', 3 * 24 * 60)]
}

export const server: ServerResponses = {
  readStorage: storage,
  readSessionSizes: { sessions: archived.map(({ id }, index) => ({ id: v.parse(sessionId, id), bytes: 41_000 * (index + 1) ** 2 })) },
  listDevices: {
    devices: [device('d1', 'Chrome on Android', 0, true), device('d2', 'Tablet', 60 * 5), device('t3', 'studio-mini', 1)]
  },
  listTokens: {
    tokens: [
      {
        id: v.parse(tokenId, 'k1'),
        name: 'Nightly report',
        scopes: ['read'],
        createdAt: now - 12 * 24 * 60 * minute,
        lastUsedAt: now - 9 * 60 * minute,
        lastUsedFrom: '192.0.2.0/24',
        expiresAt: now + 30 * 24 * 60 * minute
      }
    ]
  },
  listSignups: {
    signups: [
      {
        fingerprint: 'lunar-maple-river-cabin',
        client: 'Firefox on Linux',
        address: '192.0.2.7',
        askedAt: now - 14 * minute,
        endsAt: now + 46 * minute
      }
    ]
  },
  listInvites: {
    invites: [
      { id: v.parse(inviteId, 'i1'), label: 'Jon', state: 'unused', createdAt: now - 60 * minute, endsAt: now + 6 * 24 * 60 * minute },
      { id: v.parse(inviteId, 'i2'), label: '', state: 'used', createdAt: now - 900 * minute, endsAt: now + 5 * 24 * 60 * minute }
    ]
  },
  readMessages: { messages: [], hasMore: false },
  createInvite: {
    invite: { id: v.parse(inviteId, 'i3'), label: 'Ada', state: 'unused', createdAt: now, endsAt: now + 24 * 60 * minute },
    code: 'ABCD-EFGH-JKLM'
  },
  createToken: { id: v.parse(tokenId, 'k2'), token: 'afield_secret' },
  renameDevice: { success: true },
  removeDevice: { success: true },
  revokeToken: { success: true },
  revokeInvite: { success: true },
  approveSignup: { success: true },
  rejectSignup: { success: true },
  removeSession: { success: true },
  removeMachine: { success: true },
  removeChannel: { success: true }
}

const rule = { folder, madeAt: now - 3 * 24 * 60 * minute, madeBy: 'Chrome on Android' }

export const machine: MachineResponses = {
  choices: {
    agents: [
      { agent: 'claude', title: 'Claude Code', version: '2.1.40', tested: 'tested', isSignedIn: true },
      { agent: 'codex', title: 'Codex', version: '0.181.0', tested: 'newer', isSignedIn: true },
      { agent: 'opencode', title: 'OpenCode', version: '1.2.0', isSignedIn: false, signIn: 'opencode auth login' }
    ],
    missingAgents: [{ agent: 'gemini', title: 'Gemini', install: 'npm install -g @google/gemini-cli' }],
    recentFolders: [folder, '/home/mira/work/orchard-web'],
    folders: [
      { path: folder, branch: 'main', dirty: 2 },
      { path: '/home/mira/work/orchard-web', branch: 'main', dirty: 0 }
    ],
    allowedFolders: ['/home/mira/work'],
    home: '/home/mira'
  },
  processes: {
    processes: [
      {
        id: '48211',
        pid: 48211,
        startedAt: now - 22 * minute,
        memoryBytes: 812e6,
        memoryIs: 'share',
        processes: 4,
        isLeftOver: false,
        title: 'Claude Code',
        folder,
        ...(moving[0] && { session: moving[0].id })
      },
      {
        id: '47903',
        pid: 47903,
        startedAt: now - 64 * minute,
        memoryBytes: 590e6,
        memoryIs: 'share',
        processes: 3,
        isLeftOver: false,
        title: 'Claude Code',
        folder,
        session: publish.id
      },
      {
        id: '311',
        pid: 311,
        startedAt: now - 3000 * minute,
        memoryBytes: 92e6,
        memoryIs: 'share',
        processes: 1,
        isLeftOver: true,
        title: 'npm run watch',
        folder: '/home/mira/work/orchard-web'
      }
    ]
  },
  worktrees: {
    worktrees: [
      {
        path: '/home/mira/.afield/copies/orchard-api-1',
        branch: 'afield/sso-return',
        repository: folder,
        base: 'main',
        dirty: 2,
        ahead: 1,
        isInUse: true
      },
      {
        path: '/home/mira/.afield/copies/orchard-api-2',
        branch: 'afield/changelog',
        repository: folder,
        base: 'main',
        dirty: 0,
        ahead: 0,
        isInUse: false
      }
    ]
  },
  'agent-histories': {
    histories: [
      { agent: 'claude', id: 'c1', title: 'Find out why the upload test is flaky', folder, at: now - 90 * minute },
      { agent: 'claude', id: 'c2', title: 'Explain the queue', folder, at: now - 300 * minute, openIn: 'terminal' },
      { agent: 'codex', id: 'c3', title: 'Port the parser', folder: '/home/mira/work/orchard-web', at: now - 3000 * minute }
    ],
    cursor: null
  },
  'search-histories': {
    hits: [
      {
        agent: 'claude',
        id: 'c4',
        title: 'Sign-in with SSO',
        folder,
        at: now - 30_000 * minute,
        by: 'agent',
        sentence: 'The state cookie carries returnTo for ten minutes.'
      }
    ],
    isComplete: true
  },
  listDirectory: {
    success: true,
    path: '/home/mira/work',
    entries: ['field-notes', 'orchard-api', 'orchard-web'].map(name => ({ name, type: 'directory' as const }))
  },
  log: { lines: ['10:02:11 live', '10:02:12 2 sessions are running', '10:44:40 began a session in orchard-api'] },
  update: { version: '0.1.0', installed: 'npm', isReady: false, command: 'npm install -g afield', message: 'A newer one may be there.' },
  'keep-awake': { on: true, isAwake: true, canDo: true },
  rules: {
    rules: [
      { ...rule, id: 'r1', on: 'command', pattern: 'npm test *', used: 41, usedAt: now - 20 * minute },
      { ...rule, id: 'r2', on: 'change', pattern: 'docs/**', used: 0, endsAt: now + 100 * minute }
    ],
    isPaused: false
  },
  'end-process': { message: 'It has ended.' },
  'remove-worktree': { message: 'It was removed.', branch: 'kept' },
  restart: { message: 'Restarting.' },
  'stop-daemon': { message: 'Stopping.' },
  'make-folder': { path: '/home/mira/work/orchard-new' },
  'complete-path': { folders: ['/home/mira/work/orchard-api', '/home/mira/work/orchard-web'], hasMore: true },
  'rules-set': { rule: { ...rule, id: 'r1', on: 'command', pattern: 'npm *', used: 41 } },
  'rules-remove': {},
  'rules-pause': { isPaused: true },
  decisions: {
    entries: [
      { ...decided, at: now - 20 * minute, what: 'npm run build', rule: 'npm run *', answer: 'allowed' },
      { ...decided, at: now - 26 * minute, what: 'git push --force-with-lease origin main', level: 'risky', answer: 'denied' },
      { ...decided, at: now - 60 * minute, what: `${folder}/src/auth/callback.ts`, on: 'change', tool: 'Edit', answer: 'allowed' }
    ]
  },
  'rules-try': {
    looked: 50,
    passed: 41,
    entries: [
      { at: now - 60 * minute, what: 'npm test -- auth', answer: 'allowed' },
      { at: now - 600 * minute, what: 'npm test', answer: 'denied' }
    ]
  }
}
