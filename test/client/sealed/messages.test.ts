import t from 'tap'
import {
  cryptoReady,
  envelopeOf,
  newEnvelope,
  newId,
  newSessionMessage,
  newUserText,
  openMessage,
  openPartial,
  readyEvent,
  sealDraft,
  sealPartial
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
