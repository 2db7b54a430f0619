import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { accountVault, createNumbers, cryptoReady, type Draft, Unreachable } from '../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { deviceDb } from '../../../web/core/device-db.ts'
import type { MachineLink } from '../../../web/model/account/machine-call.ts'
import { updateHome } from '../../../web/model/home.ts'
import { openedOf } from '../../../web/model/outbox/messages.ts'
import {
  type AskedStart,
  resumeSession,
  sendFirstMessage,
  startSession,
  stopDaemon,
  stopOnMachine
} from '../../../web/model/start-and-stop.ts'
import { machine } from '../kit/machine.ts'
import { sessionRow } from '../kit/session-row.ts'

t.before(() => cryptoReady())

const asked: AskedStart = { agent: 'claude', folder: '/work/pears', mode: 'default', mayMakeFolder: false }

t.test('a start asks the machine for what was chosen, and for nothing else', async t => {
  const { link, asked: calls } = machine<MachineLink>({ 'spawn-happy-session': { type: 'success', sessionId: 's1' } })
  const usual = { directory: '/work/pears', agent: 'claude', permissionMode: 'default', approvedNewDirectoryCreation: false }
  t.same(await startSession(link, 'm1', asked), { type: 'started', id: 's1' })
  const worktree = { base: 'main', about: 'prune' }
  const more = { mode: 'plan', mayMakeFolder: true, worktree, model: 'fast', effort: 'low', start: 'x1', conversation: 'c1' }
  await startSession(link, 'm1', { ...asked, ...more })
  t.same(calls, [
    ['m1:spawn-happy-session', usual],
    [
      'm1:spawn-happy-session',
      {
        ...{ ...usual, permissionMode: 'plan', approvedNewDirectoryCreation: true, worktree },
        ...{ modelMode: 'fast', effortLevel: 'low', start: 'x1', conversation: 'c1' }
      }
    ]
  ])
})

/** A device that knows `s1`; `s2` never arrives. */
function device(t: Test, { hasKey = true, permissionMode }: { hasKey?: boolean; permissionMode?: string } = {}) {
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata: { path: '/work/pears', host: 'h', permissionMode } } })
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }
  const queued: Draft[] = []
  const link = {
    cipherOf: () => (hasKey ? cipher : undefined),
    outbox: { put: async (draft: Draft) => queued.push(draft) },
    feed: { sessions: new Map() }
  }
  const waits: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, ms: number) {
      waits.push(ms)
      // The time for a session to arrive passes at once.
      if (ms === 8_000) setImmediate(run)
    }
  })
  return {
    ...{ queued, waits },
    send: (session: string, text: string, more?: AskedStart) =>
      sendFirstMessage(link as unknown as Parameters<typeof sendFirstMessage>[0], session, text, more),
    read: () => queued.map(draft => openedOf({ cipherOf: () => cipher }, draft))
  }
}

t.test('the first message is sent like any other, also if its mode could not be stored', async t => {
  const { send, read, queued } = device(t)
  await send('s1', '')
  t.same(queued, [], 'there is none')
  await send('s1', 'Prune the pears')
  await send('s1', 'Rake', { ...asked, mode: 'bypassPermissions', keepsMode: true })
  t.same(
    queued.map(({ session }) => session),
    ['s1', 's1']
  )
  t.match(read(), [
    { role: 'user', content: { text: 'Prune the pears' }, meta: { sentFrom: 'web' } },
    { role: 'user', content: { text: 'Rake' }, meta: { sentFrom: 'web' } }
  ])
  t.same(
    read().map(body => body?.role === 'user' && body.meta?.permissionMode),
    [undefined, undefined],
    'and then the agent asks'
  )
})

t.test('the first message says the mode that is stored for an agent of an existing wrapper', async t => {
  const { send, read } = device(t, { permissionMode: 'plan' })
  await send('s1', 'Prune the pears')
  t.match(read(), [{ content: { text: 'Prune the pears' }, meta: { sentFrom: 'web', permissionMode: 'plan' } }])
})

t.test('the first message of a session that does not arrive, or cannot be opened, waits in its composer', async t => {
  const { send, queued, waits } = device(t, { hasKey: false })
  await send('s2', 'Prune the pears')
  t.ok(waits.includes(8_000))
  t.same(queued, [])
  t.equal(await (await deviceDb()).read('draft.s2'), 'Prune the pears')
})

t.test('a start that needs its folder made, or failed, says so', async t => {
  const of = (said: unknown) => machine<MachineLink>({ 'spawn-happy-session': said }).link
  t.same(await startSession(of({ type: 'requestToApproveDirectoryCreation', directory: '/work/pears' }), 'm1', asked), {
    type: 'wants-folder',
    folder: '/work/pears'
  })
  t.same(await startSession(of({ error: 'no agent' }), 'm1', asked), { type: 'failed', why: 'failed', says: 'no agent' })
})

t.test('a session and a daemon are stopped by their machine, or it is said that they were not', async t => {
  const { link, asked } = machine<MachineLink>({ 'stop-session': { message: 'done' }, 'stop-daemon': { message: 'done' } })
  t.equal(await stopOnMachine(link, 'm1', 's1'), true)
  t.equal(await stopDaemon(link, 'm1'), true)
  t.same(asked, [
    ['m1:stop-session', { sessionId: 's1' }],
    ['m1:stop-daemon', {}]
  ])
  const gone = machine<MachineLink>({ 'stop-session': new Unreachable('network'), 'stop-daemon': { error: 'no' } }).link
  t.same([await stopOnMachine(gone, 'm1', 's1'), await stopDaemon(gone, 'm1')], [false, false])
})

t.test(
  'a session is resumed with what its own machine may have forgotten of it, and with nothing for a machine that is not known',
  async t => {
    const vault = accountVault(engine.randomBytes(32))
    const { wrapped } = vault.newKey()
    const metadata = { path: '/work/pears', host: 'h', machineId: 'm1' }
    const row = { id: 's1', seq: 7, metadataVersion: 2, agentStateVersion: 3, dataEncryptionKey: wrapped }
    const others = [{ ...row, id: 's0', seq: 1 }, row]
    const resume = async (knows: { machine?: boolean; session?: boolean; row?: boolean }, on = 'm1') => {
      updateHome({ type: 'cleared' })
      const view = { isActive: true, activeAt: 1, createdAt: 1, metadata: undefined, daemonState: null }
      if (knows.machine !== false) for (const id of ['m1', 'm2']) updateHome({ type: 'machine', machine: { ...view, id } })
      if (knows.session !== false) updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata } })
      const { link, asked } = machine<MachineLink>({ 'resume-happy-session': { type: 'success', sessionId: 's2' } })
      const feed = { sessions: new Map(knows.row === false ? [] : others.map(each => [each.id, each])) }
      t.same(await resumeSession({ ...link, vault, feed } as unknown as Parameters<typeof resumeSession>[0], on, 's1'), {
        type: 'started',
        id: 's2'
      })
      return asked
    }
    t.match(await resume({}), [
      ['m1:resume-happy-session', { sessionId: 's1', fallback: { metadata, metadataVersion: 2, agentStateVersion: 3, seq: 7 } }]
    ])
    t.same(await resume({}, 'm2'), [['m2:resume-happy-session', { sessionId: 's1', fallbackReason: 'other-machine' }]])
    for (const knows of [{ machine: false }, { session: false }, { row: false }])
      t.same(await resume(knows), [['m1:resume-happy-session', { sessionId: 's1' }]], JSON.stringify(knows))
  }
)

t.test('the first message leaves as soon as its session has arrived', async t => {
  updateHome({ type: 'cleared' })
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }
  const queued: Draft[] = []
  const timers = new Set<number>()
  let ids = 0
  t.intercept(globalThis, 'setTimeout', { value: (_: () => void, ms: number) => (ms === 8_000 ? timers.add(++ids) && ids : 0) })
  t.intercept(globalThis, 'clearTimeout', { value: (id: number) => timers.delete(id) })
  const link = { cipherOf: () => cipher, outbox: { put: async (draft: Draft) => queued.push(draft) }, feed: { sessions: new Map() } }
  const sent = sendFirstMessage(link as unknown as Parameters<typeof sendFirstMessage>[0], 's1', 'Prune the pears')
  const show = (id: string) => updateHome({ type: 'session', session: { ...sessionRow, id, metadata: undefined } })
  show('s0')
  await new Promise(setImmediate)
  t.same([queued.length, timers.size], [0, 1], 'another one came')
  show('s1')
  await sent
  t.same([queued.length, timers.size], [1, 0])
})
