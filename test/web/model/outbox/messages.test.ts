import { mock } from 'node:test'
import t, { type Test } from 'tap'
import {
  createMemoryJournal,
  createNumbers,
  createOrder,
  cryptoReady,
  type Draft,
  envelopeOf,
  newUserText,
  type Outbox,
  openMessage,
  openOutbox,
  sealDraft,
  Unreachable,
  writerOf
} from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import type { MessageBody } from '../../../../lib/protocol/sealed/messages.ts'
import { encryptedContent } from '../../../../lib/protocol/wire/records.ts'
import * as v from '../../../../lib/schema.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { changeMessage, unsentMessages } from '../../../../web/model/outbox/message-changes.ts'
import { onMessageChange, openedOf, toldByPerson, withdrawMessage } from '../../../../web/model/outbox/messages.ts'
import { sessionRow } from '../../kit/session-row.ts'

t.before(() => cryptoReady())

type Withdrawn = Awaited<ReturnType<Outbox['withdraw']>>

/** Texts, or files in brackets, queued in this tab without a link, and what a machine reads once there is one. */
async function waiting(t: Test, queued = ['one', 'two', 'three'], { wereTried = false } = {}) {
  const cipherFor = (session: string) => ({ ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers(session) })
  const [cipher, other] = [cipherFor('s1'), cipherFor('s2')]
  const ciphers: Readonly<Record<string, typeof cipher>> = { s1: cipher, s2: other }
  const sent: Pick<Draft, 'content'>[] = []
  let isAway = true
  const outbox = await openOutbox({
    journal: createMemoryJournal(),
    onSetAside: () => {},
    async send(session, drafts) {
      if (isAway) throw new Unreachable('network')
      if (session === 's1') sent.push(...drafts)
      return []
    }
  })
  t.teardown(() => outbox.close())
  const state = { hasKey: true }
  /** What came of withdrawing each one, in turn, where it is not just withdrawn. */
  const outcomes = new Map<string, Withdrawn[]>()
  const withdraw: Outbox['withdraw'] = async draft => {
    const how = outcomes.get(draft.localId)?.shift()
    if (how === 'too-late') return how
    const is = await outbox.withdraw(draft)
    return how ?? is
  }
  const link = {
    outbox: {
      put: draft => outbox.put(draft),
      withdraw,
      get pending() {
        return outbox.pending
      }
    } as Outbox,
    cipherOf: (session: string) => (state.hasKey ? ciphers[session] : undefined)
  }
  const bodyOf = (text: string): MessageBody => {
    const [, name] = /^\[(.*)\]$/.exec(text) ?? []
    return name === undefined ? newUserText(text, { sentFrom: 'web' }) : toldByPerson({ t: 'file', ref: name, name, size: 1 })
  }
  // Its session is tried first, and none behind it.
  if (!wereTried) await outbox.put(sealDraft(other, 's2', newUserText('elsewhere')))
  const ids: string[] = []
  for (const text of queued) {
    const draft = sealDraft(cipher, 's1', bodyOf(text))
    ids.push(draft.localId)
    await outbox.put(draft)
  }
  await new Promise(setImmediate)
  const changes: unknown[] = []
  const stop = onMessageChange(({ localId, ...change }) => changes.push({ at: ids.indexOf(localId), ...change }))
  const find = (text: string) => {
    const found = unsentMessages(link, outbox.pending).find(each => each.text === text)
    if (!found) throw new Error('it does not wait')
    return found
  }
  const arrive = async () => {
    isAway = false
    outbox.wake()
    await outbox.idle()
    const order = createOrder(true)
    const missing: { sender: string; number: number }[] = []
    const texts = sent.map(({ content: c }) => {
      const message = openMessage(cipher, { content: v.parse(encryptedContent, { t: 'encrypted', c }) })
      const by = writerOf(message)
      const place = by && order.take(by)
      if (by && place?.type === 'after-gap') missing.push(...place.numbers.map(number => ({ sender: by.sender, number })))
      const text = message.ok ? textOf(message.body, ids) : 'unreadable'
      return place?.type === 'late' || place?.type === 'repeated' ? `${text} ${place.type}` : text
    })
    await outbox.close()
    stop()
    return { texts, missing: missing.filter(each => order.isMissing(each)) }
  }
  const at = (index: number) => ({ session: 's1', localId: ids[index] ?? '' })
  return {
    ...{ link, find, arrive, changes, state, cipher, at },
    /** From now on, what came of withdrawing the message at this place. */
    withdrawnAs: (index: number, ...how: Withdrawn[]) => outcomes.set(ids[index] ?? '', how),
    texts: () => unsentMessages(link, outbox.pending).flatMap(({ text }) => (text === 'elsewhere' ? [] : text))
  }
}

function textOf(body: MessageBody, ids: readonly string[]): string {
  if (body.role === 'user') {
    const { replaces } = body.meta ?? {}
    return replaces === undefined ? body.content.text : `${body.content.text} for ${ids.indexOf(replaces)}`
  }
  const told = envelopeOf(body)?.ev
  return told?.t === 'withdraw' ? `withdraws ${ids.indexOf(told.localId)}` : `[${told?.t === 'file' ? told.name : told?.t}]`
}

t.test('a text withdrawn before it was sent does not look lost [W13]', async t => {
  const { link, find, arrive } = await waiting(t)
  await withdrawMessage(link, find('two'))
  t.strictSame(await arrive(), { texts: ['one', 'three', 'withdraws 1'], missing: [] })
})

t.test('a text edited before it was sent keeps its place [W13]', async t => {
  const { link, find, arrive } = await waiting(t)
  await changeMessage(link, find('two'), 'two, in other words')
  t.strictSame(await arrive(), { texts: ['one', 'two, in other words', 'three'], missing: [] })
})

t.test('what was withdrawn or edited is told to the screens', async t => {
  const { link, changes, at, arrive } = await waiting(t)
  await withdrawMessage(link, at(1))
  await changeMessage(link, { ...at(0), text: 'one' }, 'first')
  t.same(changes, [
    { at: 1, session: 's1', text: undefined },
    { at: 0, session: 's1', text: 'first' }
  ])
  await arrive()
  await withdrawMessage(link, at(0)).catch(() => {})
  t.equal(changes.length, 2, 'not to one that no longer listens')
})

t.test('the only message that waits is withdrawn without a word, since none behind it could make it look lost [W13]', async t => {
  const { link, at, arrive } = await waiting(t, ['one'])
  await withdrawMessage(link, at(0))
  t.strictSame(await arrive(), { texts: [], missing: [] })
})

t.test('a text is withdrawn with its files, and with no others [W13]', async t => {
  const { link, at, arrive } = await waiting(t, ['[a]', 'one', '[b]', '[c]', 'two', '[d]', 'three'])
  await withdrawMessage(link, at(4))
  t.strictSame(await arrive(), { texts: ['[a]', 'one', '[d]', 'three', 'withdraws 4'], missing: [] })
})

t.test('a text is sent, and withdrawn by a word after it, when one of its files may have been sent [W13]', async t => {
  for (const how of ['too-late', 'perhaps-stored'] as const) {
    const { link, at, arrive, withdrawnAs } = await waiting(t, ['[a]', '[b]', 'one'])
    withdrawnAs(1, how)
    await withdrawMessage(link, at(2))
    const { texts } = await arrive()
    t.strictSame(texts, [...(how === 'too-late' ? ['[b]'] : []), 'one', 'withdraws 2'], how)
  }
})

t.test('a text that was sent, or may have been, is withdrawn by a word', async t => {
  const gone = await waiting(t, ['one'])
  await withdrawMessage(gone.link, { session: 's1', localId: 'sent before' })
  t.strictSame((await gone.arrive()).texts, ['one', 'withdraws -1'])
  const unsure = await waiting(t, ['one'])
  unsure.withdrawnAs(0, 'perhaps-stored')
  await withdrawMessage(unsure.link, unsure.at(0))
  t.strictSame((await unsure.arrive()).texts, ['withdraws 0'])
})

t.test('a text withdrawn while it is edited takes its edits along, with their files [W13]', async t => {
  const { link, cipher, at, arrive } = await waiting(t, ['one', 'two'])
  const edit = (text: string, index: number) => link.outbox.put(sealDraft(cipher, 's1', newUserText(text, { replaces: at(index).localId })))
  await link.outbox.put(sealDraft(cipher, 's1', toldByPerson({ t: 'file', ref: 'f', name: 'f', size: 1 })))
  await edit('one, again', 0)
  await edit('two, again', 1)
  await withdrawMessage(link, at(0))
  t.strictSame(await arrive(), { texts: ['two', 'two, again for 1', 'withdraws 0'], missing: [] })
})

t.test('without its key a message is withdrawn as far as it can be', async t => {
  const { link, at, state, arrive, changes } = await waiting(t)
  state.hasKey = false
  await withdrawMessage(link, at(2))
  t.match(changes, [{ at: 2, text: undefined }])
  state.hasKey = true
  t.strictSame((await arrive()).texts, ['one', 'two'])
})

t.test('an edit waits until the message is no longer in flight, and gives up after a while', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const change = async (tries: number) => {
    const { link, at, withdrawnAs, texts } = await waiting(t)
    withdrawnAs(1, ...Array.from({ length: tries }, () => 'too-late' as const))
    let end: unknown
    const changed = changeMessage(link, { ...at(1), text: 'two' }, 'changed').then(
      () => {
        end = 'changed'
      },
      error => {
        end = error.message
      }
    )
    let waitedMs = 0
    while (end === undefined) {
      await new Promise(setImmediate)
      if (end !== undefined) break
      mock.timers.tick(100)
      waitedMs += 100
    }
    await changed
    return { end, waitedMs, texts: texts() }
  }
  t.strictSame(await change(0), { end: 'changed', waitedMs: 0, texts: ['one', 'changed', 'three'] })
  t.strictSame(await change(1), { end: 'changed', waitedMs: 300, texts: ['one', 'changed', 'three'] })
  t.strictSame(await change(5), { end: 'changed', waitedMs: 1500, texts: ['one', 'changed', 'three'] })
  t.strictSame(await change(6), { end: 'it is on its way', waitedMs: 1500, texts: ['one', 'two', 'three'] })
})

t.test('a message that is no longer here, or cannot be decrypted, is not edited, and nothing is lost', async t => {
  const { link, state, texts, at, changes } = await waiting(t)
  await t.rejects(changeMessage(link, { session: 's1', localId: 'sent before', text: 'x' }, 'changed'), { message: 'it is on its way' })
  await t.rejects(changeMessage(link, { ...at(1), session: 's2', text: 'x' }, 'changed'), { message: 'it is on its way' })
  state.hasKey = false
  await t.rejects(changeMessage(link, { ...at(1), text: 'two' }, 'changed'), { message: 'it is on its way' })
  state.hasKey = true
  t.same(texts(), ['one', 'two', 'three'])
  t.same(changes, [])
})

t.test('an edit of one that may be stored is sent again as a replacement, where the wrapper supports it [W13]', async t => {
  for (const editsQueue of [true, undefined]) {
    updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata: { path: '/', host: 'h', editsQueue } } })
    const { link, at, arrive, withdrawnAs } = await waiting(t)
    withdrawnAs(1, 'perhaps-stored')
    await changeMessage(link, { ...at(1), text: 'two' }, 'changed')
    t.strictSame((await arrive()).texts, ['one', 'changed', 'three', ...(editsQueue ? ['changed for 1'] : [])])
  }
})

t.test('an edit replaces earlier ones that wait, keeps those of others and how the message is to be answered [W13]', async t => {
  const { link, cipher, at, arrive, texts } = await waiting(t, ['one', 'two'])
  const edit = (text: string, index: number) => link.outbox.put(sealDraft(cipher, 's1', newUserText(text, { replaces: at(index).localId })))
  await edit('one, again', 0)
  await edit('two, again', 1)
  t.same(texts(), ['one, again', 'two, again'], 'each is shown at its place')
  await changeMessage(link, { ...at(0), text: 'one' }, 'one, at last')
  const [first] = link.outbox.pending.filter(({ localId }) => localId === at(0).localId)
  const body = first && openedOf(link, first)
  t.match(body?.meta, { sentFrom: 'web' })
  t.strictSame((await arrive()).texts, ['one, at last', 'two', 'two, again for 1'])
})

t.test('messages that wait are shown in order, without files and what cannot be decrypted', async t => {
  const { link, texts, state, at } = await waiting(t, ['[a]', 'one', 'two'])
  t.same(texts(), ['one', 'two'])
  t.match(unsentMessages(link, link.outbox.pending)[1], { ...at(1), text: 'one' })
  const other = dataKeyCipher(engine.randomBytes(32))
  await link.outbox.put(sealDraft(other, 's1', newUserText('sealed with another key')))
  t.same(texts(), ['one', 'two'])
  state.hasKey = false
  t.same(texts(), [])
})

t.test('a message that may be stored is still edited, or withdrawn, when it was edited before [W13]', async t => {
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata: { path: '/', host: 'h', editsQueue: true } } })
  for (const isWithdrawn of [false, true]) {
    const { link, at, arrive } = await waiting(t, ['one'], { wereTried: true })
    await changeMessage(link, { ...at(0), text: 'one' }, 'changed')
    if (isWithdrawn) await withdrawMessage(link, at(0))
    else await changeMessage(link, { ...at(0), text: 'changed' }, 'changed again')
    const expected = isWithdrawn ? ['withdraws 0'] : ['changed again', 'changed again for 0']
    t.strictSame(await arrive(), { texts: expected, missing: [] })
  }
})

t.test('what a person says beside texts is in the envelope that existing wrappers expect', async t => {
  t.match(toldByPerson({ t: 'withdraw', localId: 'l1' }), {
    role: 'session',
    content: { type: 'session', data: { role: 'user', ev: { t: 'withdraw', localId: 'l1' }, id: String, time: Number } },
    meta: { sentFrom: 'web' }
  })
})
