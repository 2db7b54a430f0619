import t from 'tap'
import { type SessionMetadata, sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import * as v from '../../../../lib/schema.ts'
import { factsIn, factsOf, hasComeBack, type SessionFacts } from '../../../../web/model/session/facts.ts'
import { emptyHome, type MachineView, type SessionView } from '../../../../web/model/store.ts'
import { sessionRow } from '../../kit/session-row.ts'

t.test('a resumed session counts as back even if it ended again before anyone saw it run', t => {
  t.equal(hasComeBack({ presence: 'here', activeAt: 5 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 6 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 5 }, 5), false)
  t.end()
})

const choice = (code: string) => ({ code, value: code, description: '' })

/** A session as its wrapper describes it. */
function view(metadata: Partial<SessionMetadata> | undefined, more: Partial<SessionView> = {}): SessionView {
  const about = metadata && v.parse(sessionMetadata, { path: '/work/pears', host: 'studio', ...metadata })
  return { ...sessionRow, id: 's1', last: undefined, metadata: about, ...more }
}

function daemon(more: Partial<MachineView> = {}): MachineView {
  const daemonState = { status: 'running' } as const
  return { id: 'm1', isActive: true, activeAt: 5, createdAt: 1, metadata: undefined, daemonState, ...more } as MachineView
}

/** Only what differs from another session. */
function differing(facts: SessionFacts, from: SessionFacts): Partial<SessionFacts> {
  const rest = Object.entries(facts).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(from[name as keyof SessionFacts]))
  return Object.fromEntries(rest)
}

t.test('everything that a wrapper says about its session is shown', async t => {
  const windows = [{ minutes: 300, usedPercent: 4, isReached: false }]
  const settings = [{ id: 'tone', name: 'Tone', isSwitch: false, current: 'dry', choices: [choice('dry')] }]
  const agentState: NonNullable<SessionView['agentState']> = {
    diskTrouble: { why: 'full', since: 8 },
    ...{ modelWait: { since: 8 }, controlledByUser: true, unanswered: { denyAfterMinutes: 5, since: 8 } }
  }
  const metadata: Partial<SessionMetadata> = {
    ...{ machineId: 'm1', flavor: 'codex', summary: { text: 'Prune', updatedAt: 1 }, gitBranch: 'main', afieldVersion: '2.0' },
    ...{ version: '1.0', hostPid: 42, agentEnd: { code: 1 }, operatingModes: [choice('ask')], currentOperatingModeCode: 'ask' },
    ...{ models: [choice('fast')], currentModelCode: 'fast', thoughtLevels: [choice('low')], currentThoughtLevelCode: 'low' },
    ...{ slashCommands: ['/plan', 'a/b'], slashDescriptions: { plan: 'Plans' }, methods: ['watch'], editsQueue: true, compromisedAt: 9 },
    ...{ agentSettings: settings, usageWindows: windows }
  }
  const counts = { seq: 7, createdAt: 2, activeAt: 6, isThinking: true, deliveredSeq: 5, readSeq: 4 }
  const session = view(metadata, { ...counts, dataEncryptionKey: 'k', agentState })
  t.strictSame(factsOf(session, daemon(), false), {
    ...{ id: 's1', seq: 7, createdAt: 2, title: 'Prune', agent: 'Codex', agentShort: 'Codex', host: 'studio', folder: 'pears' },
    ...{ isInCopy: false, path: '/work/pears', branch: 'main', version: '2.0', process: 42, presence: 'here', isUnlinked: false },
    ...{ agentEnd: { code: 1 }, activeAt: 6, isThinking: true, modelWait: agentState.modelWait, diskTrouble: agentState.diskTrouble },
    ...{ modes: [choice('ask')], mode: 'ask', keepsMode: false, saysMode: undefined, models: [choice('fast')], model: 'fast' },
    ...{ efforts: [choice('low')], effort: 'low', settings, unanswered: '5', unansweredSince: 8 },
    ...{ windows, commandAbouts: { plan: 'Plans' }, commands: ['plan', 'a/b'], methods: ['watch'] },
    ...{ deliveredSeq: 5, readSeq: 4, hasReceipts: true, canResume: false, editsQueue: true, wakesDeaf: false, canForkAt: true },
    ...{ isInTerminal: true, hasOwnKey: true, compromisedAt: 9, isReadable: true, isStateReadable: true }
  })
})

t.test('a session about which nothing can be read says no more than that', async t => {
  const facts = factsOf(view(undefined, { agentState: undefined }), daemon(), false)
  t.hasStrict(facts, {
    ...{ title: undefined, agent: 'The agent', agentShort: 'The agent', host: 'the machine', folder: '', isInCopy: false, path: undefined },
    ...{ branch: undefined, version: undefined, process: undefined, presence: 'here', agentEnd: undefined, modes: [], mode: undefined },
    ...{ keepsMode: false, saysMode: undefined, models: [], model: undefined, efforts: [], effort: undefined, settings: [] },
    ...{ unanswered: 'null', unansweredSince: 0, windows: [], commandAbouts: undefined, commands: [], methods: undefined },
    ...{ deliveredSeq: 0, readSeq: 0, hasReceipts: false, canResume: false, editsQueue: false, wakesDeaf: false, canForkAt: false },
    ...{ isInTerminal: false, hasOwnKey: false, compromisedAt: undefined, isReadable: false, isStateReadable: false }
  })
  t.equal(factsOf(view({}, { agentState: null }), undefined, false).isStateReadable, true, 'none was written yet')
})

t.test('a session is running, should be running, or has ended', async t => {
  const running = { lifecycleState: 'running' }
  const rows: [string, SessionView, boolean, Partial<SessionFacts>][] = [
    ['connected', view(running, { isActive: true }), false, { presence: 'here', isUnlinked: false }],
    ['silent', view(running, { isActive: false }), false, { presence: 'away', isUnlinked: false }],
    ['ended', view({ lifecycleState: 'archived' }, { isActive: false }), false, { presence: 'ended', isUnlinked: false }],
    ['silent, its computer unlinked', view(running, { isActive: false }), true, { presence: 'ended', isUnlinked: true }],
    ['connected though unlinked', view(running, { isActive: true }), true, { presence: 'here', isUnlinked: false }]
  ]
  for (const [name, session, isUnlinked, expected] of rows) t.hasStrict(factsOf(session, undefined, isUnlinked), expected, name)
})

t.test('a silent model is reported only while the agent works, a full disk only while it is connected', async t => {
  const agentState = { modelWait: { since: 8 }, diskTrouble: { why: 'full', since: 8 } } as const
  const of = (more: Partial<SessionView>) => {
    const { modelWait, diskTrouble } = factsOf(view({}, { agentState, ...more }), undefined, false)
    return [modelWait !== undefined, diskTrouble !== undefined]
  }
  t.same(of({ isThinking: true }), [true, true])
  t.same(of({ isThinking: false }), [false, true])
  t.same(of({ isThinking: true, isActive: false }), [false, false])
})

t.test('a session can be resumed only once it ended, by a daemon that runs, if its agent can go on', async t => {
  const ended = { isActive: false }
  const ours = { methods: ['watch'] }
  const rows: [string, SessionView, MachineView | undefined, boolean, boolean][] = [
    ['ended', view(ours, ended), daemon(), true, false],
    ['still connected', view(ours), daemon(), false, false],
    ['its machine is unknown', view(ours, ended), undefined, false, false],
    ['no daemon runs there', view(ours, ended), daemon({ daemonState: null }), false, false],
    ["Happy's wrapper with an agent that it can resume", view({ flavor: 'codex' }, ended), daemon(), true, true],
    ["Happy's wrapper with another", view({ flavor: 'gemini' }, ended), daemon(), false, false],
    ['nothing can be read', view(undefined, ended), daemon(), false, false]
  ]
  for (const [name, session, machine, canResume, wakesDeaf] of rows)
    t.hasStrict(factsOf(session, machine, false), { canResume, wakesDeaf }, name)
})

t.test('a conversation can be cut only by a daemon that runs, for the two agents that store it', async t => {
  const canFork = (metadata: Partial<SessionMetadata>, machine: MachineView | undefined = daemon()) =>
    factsOf(view({ methods: [], ...metadata }), machine, false).canForkAt
  const flavors = ['claude', 'codex', 'opencode', null]
  t.same(
    flavors.map(flavor => canFork({ flavor })),
    [true, true, false, false]
  )
  t.equal(factsOf(view({ flavor: 'claude' }), daemon(), false).canForkAt, false, "of Happy's wrapper")
  t.equal(canFork({ flavor: 'claude' }, daemon({ daemonState: null })), false)
  t.equal(factsOf(view({ methods: [], flavor: 'claude' }), undefined, false).canForkAt, false)
})

t.test("the modes of an agent in Happy's wrapper have words of ours, and are stored and said with every message", async t => {
  const codes = (facts: SessionFacts) => facts.modes.map(({ code }) => code)
  const claude = factsOf(view({ flavor: 'claude' }), undefined, false)
  t.same(codes(claude), ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'])
  t.strictSame(claude.modes.slice(2, 4), [
    { code: 'plan', value: 'plan', description: '' },
    { code: 'auto', value: 'Agent decides', description: 'Works in the folder, and asks when it thinks it should.' }
  ])
  t.hasStrict(claude, { keepsMode: true, mode: 'default', saysMode: undefined, hasReceipts: false })
  const nameOf = (flavor: string, code: string) => factsOf(view({ flavor }), undefined, false).modes.find(each => each.code === code)?.value
  t.equal(nameOf('codex', 'safe-yolo'), 'Folder only')
  t.equal(nameOf('codex', 'auto'), 'Agent decides')
  t.equal(nameOf('gemini', 'safe-yolo'), 'Ask before changes')
  t.equal(nameOf('gemini', 'yolo'), 'yolo')
  const picked = factsOf(view({ flavor: 'codex', permissionMode: 'yolo', currentOperatingModeCode: 'ask' }), undefined, false)
  t.hasStrict(picked, { mode: 'yolo', saysMode: 'yolo', keepsMode: true })
  const other = factsOf(view({ flavor: 'opencode', permissionMode: 'yolo' }), undefined, false)
  t.hasStrict(other, { modes: [], mode: undefined, saysMode: undefined, keepsMode: false })
})

t.test('names are those of the machine and the project, and the newer version counts', async t => {
  const worktree = { path: '/copies/1', branch: 'b', repository: '/work/pears', base: 'c' }
  const copy = view({ path: '/copies/1/web', worktree })
  t.hasStrict(factsOf(copy, undefined, false), { folder: 'web', isInCopy: true, path: '/copies/1/web' })
  const named = daemon({ metadata: { host: 'h', displayName: 'Shed' } as MachineView['metadata'] })
  const plain = factsOf(view({}), undefined, false)
  t.same(differing(factsOf(view({}), named, false), plain), { host: 'Shed' })
  t.same(differing(factsOf(view({ version: '1.0' }), undefined, false), plain), { version: '1.0' })
  t.hasStrict(plain, { agent: 'Claude Code', agentShort: 'Claude' })
})

t.test('a session of the list is shown with its machine, and as unlinked without', async t => {
  const session = view({ machineId: 'm1', lifecycleState: 'running', methods: [] }, { isActive: false })
  const home = { ...emptyHome, asOf: 1, machines: new Map([['m1', daemon()]]) }
  t.hasStrict(factsIn(session, home), { canResume: true, presence: 'away', isUnlinked: false })
  t.hasStrict(factsIn(session, { ...home, machines: new Map() }), { canResume: false, presence: 'ended', isUnlinked: true })
  t.hasStrict(factsIn(view({}), { ...home, machines: new Map([['', daemon()]]) }), { isUnlinked: false })
})
