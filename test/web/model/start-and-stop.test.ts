import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { createNumbers, cryptoReady, type Draft } from '../../../lib/client/index.ts'
import { openCall, sealAnswer } from '../../../lib/client/sealed/call-seals.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { deviceDb } from '../../../web/core/device-db.ts'
import { updateHome } from '../../../web/model/home.ts'
import { openedOf } from '../../../web/model/outbox/messages.ts'
import { type AskedStart, sendFirstMessage, startSession } from '../../../web/model/start-and-stop.ts'
import { sessionRow } from '../kit/session-row.ts'

t.before(() => cryptoReady())

const asked: AskedStart = { agent: 'claude', folder: '/work/pears', mode: 'default', mayMakeFolder: false }

t.test('a start asks the machine for what was chosen, and for nothing else', async t => {
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('m1') }
  const calls: unknown[] = []
  const socket = {
    async request(_: string, { method, params }: { method: string; params: string }) {
      const opened = openCall(cipher, params, { target: 'm1', method: 'spawn-happy-session' })
      if (opened.type !== 'named') throw new Error(opened.type)
      calls.push([method, opened.params])
      return { ok: true, result: sealAnswer(cipher, opened.name, { type: 'success', sessionId: 's1' }) }
    }
  }
  const link = { socket, cipherOfMachine: () => cipher } as unknown as Parameters<typeof startSession>[0]
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
