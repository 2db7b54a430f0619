import t from 'tap'
import {
  createMemoryJournal,
  createNumbers,
  createOrder,
  cryptoReady,
  type Draft,
  newUserText,
  openMessage,
  openOutbox,
  sealDraft,
  Unreachable,
  writerOf
} from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import { encryptedContent } from '../../../../lib/protocol/wire/records.ts'
import * as v from '../../../../lib/schema.ts'
import { changeMessage, unsentMessages } from '../../../../web/model/outbox/message-changes.ts'
import { withdrawMessage } from '../../../../web/model/outbox/messages.ts'

t.before(() => cryptoReady())

/** Three texts queued in this tab without a link, and what a machine reads once there is one. */
async function waiting() {
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }
  const sent: Pick<Draft, 'content'>[] = []
  let isAway = true
  const outbox = await openOutbox({
    journal: createMemoryJournal(),
    onSetAside: () => {},
    async send(_session, drafts) {
      if (isAway) throw new Unreachable('network')
      sent.push(...drafts)
      return []
    }
  })
  const link = { outbox, cipherOf: () => cipher }
  for (const text of ['one', 'two', 'three']) await outbox.put(sealDraft(cipher, 's1', newUserText(text)))
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
      const text = message.ok && message.body.role === 'user' ? message.body.content.text : 'a word about it'
      return place?.type === 'late' || place?.type === 'repeated' ? `${text} ${place.type}` : text
    })
    await outbox.close()
    return { texts, missing: missing.filter(each => order.isMissing(each)) }
  }
  return { link, find, arrive }
}

t.test('a text withdrawn before it was sent does not look lost [W13]', async t => {
  const { link, find, arrive } = await waiting()
  await withdrawMessage(link, find('two'))
  t.strictSame(await arrive(), { texts: ['one', 'three', 'a word about it'], missing: [] })
})

t.test('a text edited before it was sent keeps its place [W13]', async t => {
  const { link, find, arrive } = await waiting()
  await changeMessage(link, find('two'), 'two, in other words')
  t.strictSame(await arrive(), { texts: ['one', 'two, in other words', 'three'], missing: [] })
})
