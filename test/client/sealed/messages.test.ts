import t from 'tap'
import {
  cryptoReady,
  envelopeOf,
  giveUpDraft,
  newEnvelope,
  newId,
  newSessionMessage,
  newUserText,
  openMessage,
  openMessageAside,
  openPartial,
  readyEvent,
  sealDraft,
  sealPartial,
  writerOf
} from '../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { sealed } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'

t.before(() => cryptoReady())

const record = (text: string) => ({ content: { t: 'encrypted' as const, c: v.parse(sealed, text) } })

t.test('messages made here are parsed back unchanged', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const turn = newId()
  const bodies = [
    newUserText('hello', { permissionMode: 'default', model: null }),
    newUserText('bare'),
    newSessionMessage(newEnvelope({ t: 'text', text: '**hi**', thinking: true }, { role: 'agent', turn })),
    newSessionMessage(newEnvelope({ t: 'turn-end', status: 'completed' }, { role: 'agent', turn, time: 5 })),
    readyEvent()
  ]
  for (const body of bodies) t.strictSame(openMessage(cipher, record(sealDraft(cipher, 's1', body).content)), { ok: true, body })
  t.end()
})

t.test('a message that cannot be decrypted or parsed is reported as such, and never throws', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const other = dataKeyCipher(engine.randomBytes(32))
  const unreadable = { ok: false, reason: 'unreadable' }
  for (const text of ['', '!', 'AAAA', other.seal(newUserText('x'))]) t.strictSame(openMessage(cipher, record(text)), unreadable)

  const unknown = { ok: false, reason: 'unknown-shape' }
  for (const value of [null, 1, [], {}, { role: 'robot' }, { role: 'session', content: { id: 1 } }]) {
    t.strictSame(openMessage(cipher, record(cipher.seal(value))), unknown)
  }
  t.end()
})

t.test('the envelope is accepted bare, as wrappers send it, and wrapped, as apps do', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const envelope = newEnvelope({ t: 'file', ref: 'r', name: 'n', size: 1 }, { role: 'user' })
  for (const content of [envelope, { type: 'session', data: envelope }]) {
    const opened = openMessage(cipher, record(cipher.seal({ role: 'session', content })))
    t.strictSame(opened.ok && envelopeOf(opened.body), envelope)
  }
  t.equal(envelopeOf(newUserText('x')), undefined)
  t.end()
})

t.test('ids are valid cuid2 for existing apps, and differ', t => {
  const ids = Array.from({ length: 2000 }, newId)
  for (const id of ids) if (!/^[a-z][a-z0-9]{23}$/.test(id)) t.fail(id)
  t.equal(new Set(ids).size, ids.length)
  t.equal(new Set(ids.map(id => id[0])).size, 26)
  t.equal(new Set(ids.join('')).size, 36)
  t.end()
})

t.test('growing text is sent encrypted', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const partial = { turn: newId(), block: newId(), text: 'half a sen', thinking: false }
  t.strictSame(openPartial(cipher, sealPartial(cipher, partial)), partial)
  t.equal(openPartial(cipher, cipher.seal({ text: 1 })), undefined)
  t.equal(openPartial(cipher, 'x'), undefined)
  t.end()
})

t.test('a message carries its sender and number, and keeps those it has', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const asked: string[] = []
  const gone: unknown[] = []
  const numbers = {
    next(localId: string) {
      asked.push(localId)
      return { sender: 'me', number: 7, session: 's1' }
    },
    giveUp: (by: object) => void gone.push(by)
  }
  const speaking = { ...cipher, numbers }
  const by = { sender: 'me', number: 7, session: 's1' }
  const draft = sealDraft(speaking, 's1', newUserText('x', { model: null }), 'l1')
  t.match(draft, { session: 's1', localId: 'l1', createdAt: Number })
  const opened = openMessage(cipher, record(draft.content))
  t.strictSame(opened, { ok: true, body: newUserText('x', { model: null, sealedBy: by }) })
  t.strictSame(writerOf(opened), by)
  const own = { sender: 'other', number: 2 }
  const kept = sealDraft(speaking, 's1', newUserText('x', { sealedBy: own }))
  t.strictSame(writerOf(openMessage(cipher, record(kept.content))), own)
  t.strictSame(asked, ['l1'])
  giveUpDraft(speaking, draft)
  giveUpDraft(speaking, sealDraft(cipher, 's1', newUserText('nameless')))
  giveUpDraft(cipher, draft)
  t.strictSame(gone, [by])
  t.end()
})

t.test('a message of a later format still uses the number of its sender, also when it is opened aside', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const by = { sender: 'me', number: 7 }
  const later = record(cipher.seal({ role: 'later', meta: { sealedBy: by, more: 1 } }))
  const { openAside: _, ...plain } = cipher
  for (const opened of [openMessage(cipher, later), await openMessageAside(cipher, later), await openMessageAside(plain, later)]) {
    t.strictSame(opened, { ok: false, reason: 'unknown-shape', by })
    t.strictSame(writerOf(opened), by)
  }
  t.equal(writerOf(openMessage(cipher, record('AAAA'))), undefined)
})

t.test('a message of a wrapper says so', t => {
  const envelope = newEnvelope({ t: 'text', text: 'hi' }, { role: 'agent' })
  t.strictSame(newSessionMessage(envelope), { role: 'session', content: envelope, meta: { sentFrom: 'cli' } })
  t.end()
})

t.test('no letter of an id is likelier than another', t => {
  const fills = [234, 252, 255, 25, 35]
  t.intercept(crypto, 'getRandomValues', { value: (bytes: Uint8Array) => bytes.fill(fills.shift() ?? 0) })
  // The first letter is one of 26, so that 234 and above are drawn again; for the others 252 and above.
  t.equal(newId(), `z${'z'.repeat(23)}`)
  t.same(fills, [35])
  t.equal(newId(), `j${'9'.repeat(23)}`)
  t.end()
})
