import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { Refused } from '../../../lib/client/link/refusals.ts'
import { type Outbox, OutboxFull } from '../../../lib/client/outbox/outbox.ts'
import {
  type Draft,
  envelopeOf,
  newEnvelope,
  newSessionMessage,
  newUserText,
  openMessage,
  writerOf
} from '../../../lib/client/sealed/messages.ts'
import { createNumbers } from '../../../lib/client/sealed/numbers.ts'
import { cryptoReady, engine, legacyCipher } from '../../../lib/crypto/index.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import { listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { createRefusedMessages, putBody } from '../../../lib/wrapper/uplink/outbox.ts'
import { demo, texts } from '../kit/demo.ts'

t.test('messages rejected while a report is being sent are reported together, once that has arrived [W5]', async t => {
  const { refused, kept, put } = refusals()
  for (const localId of ['a', 'b', 'c']) await refused.take(draft(localId), new Refused(413, 'Payload Too Large'))
  t.match(put(), [/^The server rejected a message, which is kept on this computer: Payload Too Large/])
  t.strictSame(kept, ['a', 'b', 'c'])
  refused.stored([{ localId: 'another' }])
  t.equal(put().length, 1)
  refused.stored([{ localId: put.ids[0] ?? null }])
  t.match(put().slice(1), [/^The server rejected 2 messages, which are kept/])
  t.equal(refused.trouble, undefined)
})

t.test('a message rejected again by a later process is reported under the same name [X1, W5]', async t => {
  const names = await Promise.all(
    [1, 2].map(async () => {
      const { refused, put } = refusals()
      await refused.take(draft('a'), new Refused(413, 'Payload Too Large'))
      return put.ids
    })
  )
  t.strictSame(names[0], names[1])
})

t.test('a report without space is sent with the next [W5]', async t => {
  const { refused, put, room } = refusals()
  room.isFull = true
  await refused.take(draft('a'), new Refused(413, 'Payload Too Large'))
  room.isFull = false
  await refused.take(draft('b'), new Refused(413, 'Payload Too Large'))
  t.match(put(), [/^The server rejected 2 messages/])
})

function refusals() {
  const kept: string[] = []
  const texts: string[] = []
  const room = { isFull: false }
  const put = Object.assign(() => texts, { ids: [] as string[] })
  const refused = createRefusedMessages({ setAside: ({ localId }) => void kept.push(localId) }, async (body, localId) => {
    if (room.isFull) throw new OutboxFull('full')
    const ev = envelopeOf(body)?.ev
    texts.push(ev?.t === 'service' ? ev.text : '')
    put.ids.push(localId)
  })
  return { refused, kept, put, room }
}

function draft(localId: string): Draft {
  return { session: 's', localId, content: '', createdAt: 0 }
}

t.test('a message that found no room is no longer expected back, and gives up its number unless it is to come again', async t => {
  await cryptoReady()
  const numbers = createNumbers('s')
  const sealedHere = new Set<string>()
  const drafts: Draft[] = []
  let isFull = true
  const outbox = {
    async put(draft: Draft) {
      drafts.push(draft)
      if (isFull) throw new OutboxFull('full')
    }
  } as unknown as Outbox
  const cipher = { ...legacyCipher(engine.randomBytes(32)), numbers }
  const say = (text: string, localId?: string) =>
    putBody(
      { outbox, cipher, tag: 's', sealedHere },
      newSessionMessage(newEnvelope({ t: 'text', text, ...(text === 'hm' && { thinking: true }) }, { role: 'agent' })),
      localId
    )
  await t.rejects(say('lost'), { name: 'OutboxFull' })
  await t.rejects(say('to come again', 'again'), { name: 'OutboxFull' })
  t.equal(sealedHere.size, 0)
  isFull = false
  await say('hm')
  await say('kept')
  await putBody({ outbox, cipher, tag: 's', sealedHere }, newUserText('typed'))
  t.same([...sealedHere], [drafts[2]?.content, drafts[3]?.content], 'what a person typed is read back')
  t.same(
    drafts.map(draft => draft.isPassing === true),
    [false, false, true, false, false],
    'only thoughts may be dropped'
  )
  const told = drafts.map(({ content }) => {
    const by = writerOf(openMessage(cipher, { content: { c: content } } as MessageRecord))
    return [by?.number, by?.gone?.map(({ number }) => number)]
  })
  t.same(told, [
    [1, undefined],
    [2, [1]],
    [3, undefined],
    [4, undefined],
    [5, undefined]
  ])
})

t.test('a session that the server accepts no more messages for says so at the terminal, keeps them, and pauses [W5]', async t => {
  const { server, session, wrapper, home } = await demo(t, ['SCRIPT: text hello ;; slow 1500 one by one ;; text two'])
  await session.until(session => texts(session).length > 0 && session.partials.some(({ text }) => text.startsWith('one')))
  const database = new Database(join(server.data, 'afield.db'))
  database.prepare('UPDATE session SET last_seq = ?').run(2 ** 31 - 2)
  database.close()

  await wrapper.says(/The server accepts no more messages for this session: Session has no message numbers left/)
  await wrapper.kill('SIGTERM')
  t.match(wrapper.output, /Everything was delivered/)
  t.strictSame(texts(session), ['hello'])
  const file = join(listSessions(home)[0]?.path ?? '', 'set-aside.jsonl')
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  t.equal(kept.length, 4, 'two texts, the end of the turn, and that it is ready: nothing of its own')
})
