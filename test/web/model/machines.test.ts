import t from 'tap'
import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import {
  hasDaemon,
  isOurs,
  machineAwaySince,
  modelsOf,
  nameOfMachine,
  sessionsOn,
  stateOfMachine,
  stoppedAt,
  systemName
} from '../../../web/model/machines.ts'
import { keeperOf } from '../../../web/model/rules.ts'
import type { MachineView, SessionView } from '../../../web/model/store.ts'
import { words } from '../../../web/words/index.ts'
import { clockTime } from '../../../web/words/time.ts'

const startedAt = 1000
const rows: [string, Partial<MachineView>, boolean][] = [
  ['one that runs and is heard', { isActive: true, activeAt: 5000 }, true],
  ['one that has just come, which no list knows yet', { isActive: false, activeAt: 900 }, true],
  ['one that was lost', { isActive: false, activeAt: 5000 }, false],
  ['one that said goodbye', { isActive: true, activeAt: 5000, daemonState: { status: 'offline', startedAt } }, false],
  ['none, while only an agent was there', { isActive: false, activeAt: 900, daemonState: null }, false],
  ['one whose state cannot be opened', { isActive: true, activeAt: 5000, daemonState: undefined }, false]
]

t.test('a daemon can be used while it is connected, and is not offered once it is gone', async t => {
  for (const [what, of, expected] of rows) t.equal(hasDaemon(machine(of)), expected, what)
})

t.test('a machine whose daemon has just connected is not shown as away', async t => {
  t.equal(stateOfMachine(machine({ isActive: false, activeAt: 900 }), { sessions: new Map() }), 'online')
  t.equal(stateOfMachine(machine({ isActive: false, activeAt: 5000 }), { sessions: new Map() }), 'away')
})

t.test('a daemon that said goodbye was stopped; one that runs again or went silent was not', async t => {
  const stopped = (status: string, shutdownRequestedAt?: number) => stoppedAt({ daemonState: { status, shutdownRequestedAt } })
  t.equal(stopped('offline', 4000), 4000)
  t.equal(stopped('running', 4000), undefined)
  t.equal(stopped('running'), undefined)
  t.equal(stopped('offline'), undefined)
})

t.test('the daemon handles the rules of a machine, else a capable session that runs there', async t => {
  const session = (id: string, of: { isActive: boolean; methods?: string[]; machineId?: string }) =>
    [id, { id, isActive: of.isActive, createdAt: 1, activeAt: 1, metadata: { machineId: 'm1', ...of } } as unknown as SessionView] as const
  const methods = ['permission', 'rules']
  const sessions = new Map([
    session('over', { isActive: false, methods }),
    session('elsewhere', { isActive: true, methods, machineId: 'm2' }),
    session('older', { isActive: true, methods: ['permission'] }),
    session('running', { isActive: true, methods })
  ])
  t.equal(keeperOf(machine({}), { sessions }), 'm1')
  t.equal(keeperOf(machine({ daemonState: null }), { sessions }), 'running')
  sessions.delete('running')
  t.equal(keeperOf(machine({ daemonState: null }), { sessions }), undefined)
})

function machine(of: Partial<MachineView>): MachineView {
  return { id: 'm1', isActive: true, activeAt: 0, createdAt: 0, metadata: undefined, daemonState: { status: 'running', startedAt }, ...of }
}

t.test('the models of an agent on a machine are those reported by its latest session there', async t => {
  const session = (id: string, updatedAt: number, metadata: Partial<SessionMetadata>) =>
    [id, { id, updatedAt, createdAt: updatedAt, activeAt: updatedAt, metadata: { machineId: 'm1', ...metadata } } as SessionView] as const
  const models = (code: string) => [{ code, value: code }]
  const sessions = new Map([
    session('a', 1, { flavor: 'codex', models: models('old') }),
    session('b', 2, { flavor: 'codex', models: models('new') }),
    session('c', 3, { flavor: 'codex' }),
    session('d', 4, { flavor: 'claude', models: models('opus') }),
    session('e', 5, { flavor: 'codex', machineId: 'm2', models: models('elsewhere') })
  ])
  t.same(modelsOf({ id: 'm1' }, 'codex', { sessions }), models('new'))
  t.same(modelsOf({ id: 'm1' }, 'opencode', { sessions }), [])
})

const computer = { host: 'studio.local', platform: 'linux', happyCliVersion: '1', homeDir: '/home', happyHomeDir: '/home/.happy' }

t.test('a machine is online while anything there is connected, and only one with a daemon can be away', async t => {
  const state = (of: Partial<MachineView>, ...sessions: { machineId: string; isActive: boolean }[]) => {
    const rows = sessions.map(
      ({ machineId, isActive }, index) => [`s${index}`, { isActive, metadata: { machineId } } as SessionView] as const
    )
    return stateOfMachine(machine({ isActive: false, activeAt: 5000, ...of }), { sessions: new Map(rows) })
  }
  t.equal(state({ isActive: true, daemonState: null }), 'online')
  t.equal(state({ daemonState: null }, { machineId: 'm1', isActive: true }), 'online')
  t.equal(state({ daemonState: null }, { machineId: 'm2', isActive: true }, { machineId: 'm1', isActive: false }), 'idle')
  t.equal(state({ daemonState: undefined }), 'idle')
  t.equal(state({}), 'away')
  t.equal(hasDaemon(machine({ isActive: false, activeAt: startedAt })), false)
  t.equal(hasDaemon(machine({ isActive: false, activeAt: 0, daemonState: { status: 'running' } })), false)
})

t.test('a machine that is away says since when, and whether its daemon was stopped', async t => {
  const now = Date.UTC(2030, 0, 2)
  const of = { isActive: false, activeAt: now - 60_000 }
  t.equal(machineAwaySince(machine(of), now), words.machines.sinceAway(clockTime(now - 60_000, now)))
  const daemonState = { status: 'offline', shutdownRequestedAt: now - 120_000 }
  t.equal(machineAwaySince(machine({ ...of, daemonState }), now), words.machines.daemonStopped(clockTime(now - 120_000, now)))
})

t.test('a machine has the name that its owner gave it, and its system in the usual spelling', async t => {
  t.equal(nameOfMachine({ metadata: { ...computer, displayName: 'Studio' } }), 'Studio')
  t.equal(nameOfMachine({ metadata: computer }), 'studio.local')
  t.equal(nameOfMachine({ metadata: undefined }), words.machines.sealed)
  t.same(['linux', 'darwin', 'win32', 'freebsd', 'plan9'].map(systemName), ['Linux', 'macOS', 'Windows', 'FreeBSD', 'plan9'])
})

t.test('a machine is ours if its daemon lists its methods', async t => {
  t.equal(isOurs({ metadata: { ...computer, methods: [] } }), true)
  t.equal(isOurs({ metadata: computer }), false)
  t.equal(isOurs({ metadata: undefined }), false)
})

t.test('the sessions of a machine are listed newest first', async t => {
  const session = (id: string, updatedAt: number, machineId?: string) =>
    [id, { id, updatedAt, createdAt: 0, metadata: machineId === undefined ? undefined : { machineId } } as SessionView] as const
  const sessions = new Map([session('a', 1, 'm1'), session('b', 3, 'm1'), session('c', 2, 'm1'), session('d', 9, 'm2'), session('e', 9)])
  t.same(
    sessionsOn({ id: 'm1' }, { sessions }).map(({ id }) => id),
    ['b', 'c', 'a']
  )
})
