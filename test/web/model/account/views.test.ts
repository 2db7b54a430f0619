import t from 'tap'
import { accountVault, cryptoReady } from '../../../../lib/client/index.ts'
import { engine } from '../../../../lib/crypto/index.ts'
import { machineView, sessionView } from '../../../../web/model/account/views.ts'

t.before(() => cryptoReady())

type SessionRow = Parameters<typeof sessionView>[1]
type MachineRow = Parameters<typeof machineView>[1]

/** An account, and rows sealed with a key of it. */
function account() {
  const vault = accountVault(engine.randomBytes(32))
  const { cipher, wrapped } = vault.newKey()
  const times = { seq: 7, active: true, activeAt: 2, createdAt: 3, updatedAt: 4, dataEncryptionKey: wrapped }
  const facts = { ...times, id: 's1', thinking: true, deliveredSeq: 6, readSeq: 5 }
  return {
    vault,
    seal: cipher.seal,
    wrapped,
    session: (of: object) =>
      sessionView(vault, {
        ...facts,
        metadata: cipher.seal({ path: '/work', host: 'studio' }),
        agentState: null,
        ...of
      } as unknown as SessionRow),
    machine: (of: object) => machineView(vault, { ...times, id: 'm1', metadata: 'none', daemonState: null, ...of } as unknown as MachineRow)
  }
}

const computer = { host: 'studio', platform: 'linux', happyCliVersion: '1', homeDir: '/home', happyHomeDir: '/home/.happy' }

t.test('a session is shown with its facts, its metadata and the state of its agent', async t => {
  const { seal, session, wrapped } = account()
  const requests = { p1: { tool: 'Bash', arguments: { command: 'npm test' }, createdAt: 1 } }
  const { metadata, agentState, ...facts } = session({ agentState: seal({ requests }) })
  t.same(facts, {
    ...{ id: 's1', seq: 7, isActive: true, activeAt: 2, isThinking: true, deliveredSeq: 6, readSeq: 5 },
    ...{ createdAt: 3, updatedAt: 4, dataEncryptionKey: wrapped }
  })
  t.match(metadata, { path: '/work', host: 'studio' })
  t.match(agentState, { requests })
  t.equal(session({}).agentState, null, 'one that has none yet')
})

t.test('a session whose wrapper is gone is not shown as thinking', async t => {
  const { session } = account()
  const rows = [
    [true, true, true],
    [true, false, false],
    [false, true, false]
  ] as const
  for (const [active, thinking, expected] of rows) t.equal(session({ active, thinking }).isThinking, expected)
})

t.test('a question of an older wrapper is one of the open requests', async t => {
  const { seal, session } = account()
  const communications = { q1: { kind: 'link', url: 'https://pears.example', createdAt: 1 } }
  t.match(session({ agentState: seal({ communications }) }).agentState?.requests, {
    q1: { url: 'https://pears.example', olderKind: 'link' }
  })
})

t.test('parts that cannot be decrypted or have another shape are left out, and the rest is shown', async t => {
  const { session, machine, seal } = account()
  const other = account()
  for (const broken of ['no base64', other.seal({ path: '/work', host: 'studio' }), seal('text'), seal({ path: 5 })]) {
    const of = session({ metadata: broken, agentState: other.seal({}) })
    t.match(of, { id: 's1', metadata: undefined, agentState: undefined })
    t.match(machine({ metadata: broken, daemonState: broken }), { id: 'm1', metadata: undefined, daemonState: undefined })
  }
  t.equal(session({ dataEncryptionKey: other.wrapped }).metadata, undefined, 'its key was made for another account')
})

t.test('a machine is shown with its facts, its metadata and the state of its daemon', async t => {
  const { seal, machine } = account()
  const daemon = { status: 'running', startedAt: 1 }
  t.same(machine({ metadata: seal(computer), daemonState: seal(daemon) }), {
    ...{ id: 'm1', isActive: true, activeAt: 2, createdAt: 3 },
    ...{ metadata: computer, daemonState: daemon }
  })
  t.equal(machine({ metadata: seal(computer) }).daemonState, null, 'one whose daemon never ran')
})
