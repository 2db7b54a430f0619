import 'fake-indexeddb/auto'
import { signal } from '@preact/signals'
import t, { type Test } from 'tap'
import { createNumbers, cryptoReady, type Draft, envelopeOf, newUserText, sealDraft } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import type { MessageBody } from '../../../../lib/protocol/sealed/messages.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { notifyChange, openedOf, toldByPerson } from '../../../../web/model/outbox/messages.ts'
import { openTexts, type SessionTexts, type WaitingText } from '../../../../web/model/session/texts.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import { emptyTranscript, type Transcript } from '../../../../web/model/transcript/transcript.ts'
import { until } from '../../kit/device.ts'
import { otherTabs } from '../../kit/other-tabs.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

t.before(() => cryptoReady())
// A channel to real tabs would keep the test from ending.
otherTabs()

const file = { ref: 'f1', name: 'tree.png', size: 3, mimeType: 'image/png' }

/** The texts of session `s1`, the queue that they wait in, and the keys of this device. */
async function openSession(t: Test, { pending = () => [], failed }: { pending?: (seal: Seal) => Draft[]; failed?: unknown } = {}) {
  const db = await deviceDb()
  await db.erase()
  if (failed !== undefined) await db.write('failed.s1', failed)
  const vibrated: number[][] = []
  pageGlobals(t, { navigator: { vibrate: (pattern: number[]) => vibrated.push(pattern) }, matchMedia: () => ({ matches: false }) })

  const numbers = createNumbers('s1')
  const givenUp: number[] = []
  const cipher = {
    ...dataKeyCipher(engine.randomBytes(32)),
    numbers: { ...numbers, giveUp: ({ number }: { number: number }) => givenUp.push(number) }
  }
  const seal: Seal = (body, session = 's1') => sealDraft(cipher, session, body)
  const state = { isFull: false, hasKey: true }
  const queued = pending(seal)
  const outbox = {
    pending: queued,
    put: (draft: Draft) => (state.isFull ? Promise.reject(new Error('no room')) : Promise.resolve(void queued.push(draft)))
  }
  let setAside: (draft: Draft) => void = () => {}
  const live = {
    cipherOf: (session: string) => (state.hasKey && session !== 's9' ? cipher : undefined),
    outbox,
    onSetAside(listener: typeof setAside) {
      setAside = listener
      return () => {
        setAside = () => {}
      }
    }
  }
  const session = signal<SessionView | undefined>(undefined)
  const transcript = signal<Transcript>(emptyTranscript)
  const said: string[] = []
  const texts = openTexts({
    id: 's1',
    // Only the members that are used.
    live: live as unknown as Parameters<typeof openTexts>[0]['live'],
    session,
    transcript,
    wishes: () => ({ model: 'fast' }),
    onSaid: localId => said.push(localId)
  })
  t.teardown(async () => {
    texts.close()
    // What it still writes must not meet the next test.
    await db.read('failed.s1')
  })
  return {
    ...{ db, texts, state, queued, given: givenUp, vibrated, seal, said, transcript },
    setAside: (draft: Draft) => setAside(draft),
    /** The server has told of the session. */
    know: () => {
      session.value = Object.assign(Object.create(null), { id: 's1' })
    },
    /** What waits, and how. */
    waiting: () => texts.waiting.value.map(({ text, state }) => `${text}: ${state}`),
    read: (draft: Draft | undefined) => draft && openedOf({ cipherOf: () => cipher }, draft)
  }
}

type Seal = (body: MessageBody, session?: string) => Draft

const rejected = async (texts: SessionTexts) => until(texts.waiting, all => all.some(({ state }) => state === 'failed'))

t.test('a text is queued behind its files, with what was chosen for it', async t => {
  const { texts, queued, read, said } = await openSession(t)
  await texts.send('Plant it', { files: [file], isSteer: true, replaces: 'l0' })
  await texts.send('Water it')
  const [announced, first, second] = queued.map(read)
  t.match(announced && envelopeOf(announced)?.ev, { t: 'file', ...file })
  t.match(first, { content: { text: 'Plant it' }, meta: { sentFrom: 'web', model: 'fast', steer: true, replaces: 'l0' } })
  t.match(second, { content: { text: 'Water it' }, meta: { sentFrom: 'web', model: 'fast' } })
  t.same(
    Object.keys(second?.meta ?? {}).filter(name => name === 'steer' || name === 'replaces'),
    []
  )
  t.same(
    said,
    queued.slice(1).map(({ localId }) => localId)
  )
  t.match(texts.waiting.value, [
    { localId: said[0], text: 'Plant it', state: 'device', files: [file], isSteer: true, replaces: 'l0' },
    { localId: said[1], text: 'Water it', state: 'device', files: [], isSteer: false, replaces: undefined }
  ])
})

t.test('a text that cannot be stored is not shown as waiting, and its numbers are given up', async t => {
  const { texts, state, given, waiting } = await openSession(t)
  state.isFull = true
  await t.rejects(texts.send('Plant it', { files: [file] }), { message: 'no room' })
  t.same([waiting(), given], [[], [1, 2]])
  state.hasKey = false
  await t.rejects(texts.send('Plant it'), { message: 'no key' })
  t.same([waiting(), given.length], [[], 2])
})

t.test('nothing is sent to a program that could not read it', async t => {
  const { texts, transcript, queued } = await openSession(t)
  const closed = [1, 2, 3].map(seq => ({ seq, localId: `l${seq}`, at: seq, body: undefined, closed: 'unreadable' as const }))
  transcript.value = { ...emptyTranscript, messages: closed }
  await t.rejects(texts.send('Plant it'), { message: 'nobody there could read it' })
  t.same(queued, [])
})

t.test('a text that the server rejected stays as failed, also after a restart, until it is sent again or discarded', async t => {
  const { db, texts, queued, setAside, waiting, vibrated, seal, read } = await openSession(t)
  await texts.send('Plant it', { files: [file], isSteer: true, replaces: 'l0' })
  const [announced, text] = queued
  if (!announced || !text) throw new Error('Both are queued.')
  setAside(announced)
  setAside(seal(newUserText('Of another session'), 's2'))
  t.same([waiting(), vibrated], [['Plant it: device'], []])
  setAside(text)
  t.same([waiting(), vibrated], [['Plant it: failed'], [[30, 60, 30]]])
  await texts.send('Water it')
  await texts.discard('of nothing')
  const kept = {
    localId: text.localId,
    text: 'Plant it',
    at: text.createdAt,
    state: 'failed',
    files: [file],
    isSteer: true,
    replaces: 'l0'
  }
  t.same(await db.read('failed.s1'), [kept], 'what only waits is not stored here')

  await texts.retry('of nothing')
  t.equal(queued.length, 3)
  await texts.retry(text.localId)
  t.same(waiting(), ['Water it: device', 'Plant it: device'])
  t.match(queued.slice(3).map(read), [{ content: {} }, { content: { text: 'Plant it' }, meta: { steer: true, replaces: 'l0' } }])
  t.not(queued[4]?.localId, text.localId, 'as a new message')
  t.equal(await db.read('failed.s1'), undefined)
})

t.test('a failed text that cannot be stored again stays failed', async t => {
  const { texts, state, queued, setAside, waiting } = await openSession(t)
  await texts.send('Plant it')
  const [draft] = queued
  if (draft) setAside(draft)
  state.isFull = true
  await t.rejects(texts.retry(draft?.localId ?? ''), { message: 'no room' })
  t.same(waiting(), ['Plant it: failed'])
})

t.test('a rejected text of an earlier page shows its text, and one that cannot be read shows none', async t => {
  const { setAside, seal, texts } = await openSession(t)
  const known = seal(newUserText('Plant it'))
  const draft = { ...seal(newUserText('x')), content: 'damaged' }
  setAside(known)
  setAside(draft)
  t.same(texts.waiting.value, [
    { localId: known.localId, text: 'Plant it', at: known.createdAt, state: 'failed' },
    { localId: draft.localId, text: '', at: draft.createdAt, state: 'failed' }
  ])
  await texts.discard(draft.localId)
  t.same(
    texts.waiting.value.map(({ text }) => text),
    ['Plant it']
  )
})

t.test('failed texts of the last visit come first, and what is damaged is left out', async t => {
  const failed: WaitingText = { localId: 'l1', text: 'Plant it', at: 1, state: 'failed' }
  const damaged = [null, 'text', {}, { localId: 'l2' }, { localId: 'l3', text: 4 }, { text: 'no id' }]
  const { texts, waiting } = await openSession(t, { failed: [...damaged, failed] })
  await texts.send('Water it')
  t.same(await rejected(texts).then(waiting), ['Plant it: failed', 'Water it: device'])
  await texts.discard('l1')
  t.same(waiting(), ['Water it: device'])
  t.equal(await (await deviceDb()).read('failed.s1'), undefined)
})

t.test('texts unsent when the app was closed are shown once they can be read, with their files', async t => {
  const pending = (seal: Seal) => [
    seal(toldByPerson({ t: 'file', ...file })),
    seal(newUserText('Plant it', { steer: true, replaces: 'l0' })),
    seal(newUserText('Of another session'), 's2'),
    seal(toldByPerson({ t: 'withdraw', localId: 'l9' })),
    { ...seal(newUserText('x')), content: 'damaged' },
    seal(newUserText('Water it'))
  ]
  const { texts, know, queued } = await openSession(t, { pending })
  t.same(texts.waiting.value, [])
  await texts.send('Rake')
  know()
  const of = (index: number) => ({ localId: queued[index]?.localId, at: queued[index]?.createdAt, state: 'device' })
  t.same(texts.waiting.value, [
    { ...of(6), text: 'Rake', files: [], isSteer: false, replaces: undefined },
    { ...of(1), text: 'Plant it', files: [file], isSteer: true, replaces: 'l0' },
    { ...of(5), text: 'Water it', files: [], isSteer: undefined, replaces: undefined }
  ])
})

t.test('a stored text is in the transcript, and waits no more', async t => {
  const { texts, queued, transcript, waiting } = await openSession(t)
  await texts.send('Plant it')
  await texts.send('Water it')
  const body = newUserText('Plant it')
  transcript.value = { ...emptyTranscript, messages: [{ seq: 1, localId: queued[0]?.localId ?? '', at: 1, body }] }
  t.same(waiting(), ['Water it: device'])
})

t.test('a text edited or withdrawn in the queue changes here, with the edits of it', async t => {
  const { texts, queued, waiting } = await openSession(t)
  for (const text of ['one', 'two', 'three']) await texts.send(text)
  const [one, two] = queued.map(({ localId }) => localId)
  if (one === undefined || two === undefined) throw new Error('They wait.')
  await texts.send('two, edited', { replaces: two })
  notifyChange({ session: 's2', localId: one, text: undefined })
  t.equal(waiting().length, 4)
  notifyChange({ session: 's1', localId: two, text: 'second' })
  t.same(waiting(), ['one: device', 'second: device', 'three: device'])
  notifyChange({ session: 's1', localId: one, text: undefined })
  t.same(waiting(), ['second: device', 'three: device'])
  texts.close()
  notifyChange({ session: 's1', localId: two, text: undefined })
  t.equal(waiting().length, 2, 'closed')
})

t.test('a move is shown until the session has it, and not if it could not be stored', async t => {
  const { texts, state, queued, transcript, read } = await openSession(t)
  await texts.move('l2', 'l1')
  const body = read(queued[0])
  t.match(body && envelopeOf(body)?.ev, { t: 'move', localId: 'l2', before: 'l1' })
  state.isFull = true
  await t.rejects(texts.move('l3', 'l1'), { message: 'no room' })
  t.same(
    texts.moves.value.map(({ localId, before }) => [localId, before]),
    [['l2', 'l1']]
  )
  transcript.value = { ...emptyTranscript, messages: [{ seq: 1, localId: queued[0]?.localId ?? '', at: 1, body }] }
  t.same(texts.moves.value, [])
})

t.test('a message whose withdrawal this device could not store does not look withdrawn', async t => {
  const { texts, state, queued, read } = await openSession(t)
  state.isFull = true
  await t.rejects(texts.withdraw('l1'), { message: 'no room' })
  t.same([...texts.takenBack.value], [])
  state.isFull = false
  await texts.withdraw('l1')
  t.same([...texts.takenBack.value], ['l1'])
  const body = read(queued[0])
  t.same([queued[0]?.session, body && envelopeOf(body)?.ev], ['s1', { t: 'withdraw', localId: 'l1' }])
})

t.test('a session that is closed stores its draft, and shows nothing more', async t => {
  const { db, texts, know, waiting, transcript, queued, setAside } = await openSession(t, {
    pending: seal => [seal(newUserText('Plant it'))]
  })
  await texts.send('Water it')
  texts.keepDraft('Rake')
  texts.close()
  while ((await db.read('draft.s1')) !== 'Rake') await new Promise(resolve => setImmediate(resolve))
  know()
  const [draft] = queued.slice(1)
  if (draft) setAside(draft)
  const body = newUserText('Water it')
  transcript.value = { ...emptyTranscript, messages: [{ seq: 1, localId: draft?.localId ?? '', at: 1, body }] }
  t.same(waiting(), ['Water it: device'])
})
