import t from 'tap'
import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { hasDaemon, modelsOf, stateOfMachine, stoppedAt } from '../../../web/model/machines.ts'
import { keeperOf } from '../../../web/model/rules.ts'
import type { MachineView, SessionView } from '../../../web/model/store.ts'

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
