import t from 'tap'
import { cryptoReady } from '../../../lib/client/index.ts'
import { openCall, openCallAnswer, type Pin, sealAnswer, sealCall } from '../../../lib/client/sealed/call-seals.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import type { SealedFor } from '../../../lib/protocol/sealed/sealed-for.ts'

t.before(() => cryptoReady())

const at = { target: 's1', method: 'abort' }
const name = { ...at, call: 'c1', by: { sender: 'me', number: 3 } }
const call: SealedFor = { type: 'call', ...name }
const newCipher = () => dataKeyCipher(engine.randomBytes(32))

t.test('a call opens with its name and parameters only as what it was made for', t => {
  const cipher = newCipher()
  const sealed = sealCall(cipher, name, { reason: 'x' })
  t.strictSame(openCall(cipher, sealed, at), { type: 'named', name: call, params: { reason: 'x' } })
  t.strictSame(openCall(cipher, sealCall(cipher, name, undefined), at), { type: 'named', name: call, params: {} })
  t.strictSame(openCall(cipher, sealed, { ...at, target: 's2' }), { type: 'astray', name: call })
  t.strictSame(openCall(cipher, sealed, { ...at, method: 'kill' }), { type: 'astray', name: call })
  t.strictSame(openCall(cipher, cipher.seal({ sealedFor: 'x' }), at), { type: 'astray', name: undefined })
  t.strictSame(openCall(cipher, cipher.seal({ sealedFor: { ...call, type: 'answer' } }), at), { type: 'astray', name: undefined })
  t.strictSame(openCall(cipher, cipher.seal({ reason: 'x' }), at), { type: 'nameless', params: { reason: 'x' } })
  t.strictSame(openCall(cipher, cipher.seal(null), at), { type: 'nameless', params: null })
  t.strictSame(openCall(newCipher(), sealed, at), { type: 'unreadable' })
  t.end()
})

t.test('an answer opens only as the answer to its call, and a nameless caller gets it bare', t => {
  const cipher = newCipher()
  t.strictSame(cipher.open(sealAnswer(cipher, undefined, { done: true })), { ok: true, value: { done: true } })
  const { by: _, ...answered } = call
  t.strictSame(cipher.open(sealAnswer(cipher, call, undefined)), {
    ok: true,
    value: { sealedFor: { ...answered, type: 'answer' }, result: null }
  })
  const sealed = sealAnswer(cipher, call, { done: true })
  t.strictSame(openCallAnswer(cipher, sealed, name), { type: 'result', result: { done: true } })
  for (const other of [{ target: 's2' }, { method: 'kill' }, { call: 'c2' }])
    t.strictSame(openCallAnswer(cipher, sealed, { ...name, ...other }), { type: 'astray' }, JSON.stringify(other))
  t.strictSame(openCallAnswer(cipher, sealCall(cipher, name, { result: 1 }), name), { type: 'astray' }, 'its own call sent back')
  t.strictSame(openCallAnswer(cipher, cipher.seal({ sealedFor: 'x', result: 1 }), name), { type: 'astray' })
  t.strictSame(openCallAnswer(newCipher(), sealed, name), { type: 'unreadable' })
  t.end()
})

t.test('once the other side has named an answer, a nameless one is not accepted', t => {
  const pin: Pin = { isSet: false, set: () => Object.assign(pin, { isSet: true }) }
  const cipher = { ...newCipher(), pin }
  const bare = cipher.seal('bare')
  t.strictSame(openCallAnswer(cipher, bare, name), { type: 'result', result: 'bare' })
  t.equal(pin.isSet, false)
  t.strictSame(openCallAnswer(cipher, cipher.seal({ done: true }), name), { type: 'result', result: { done: true } })
  openCallAnswer(cipher, sealAnswer(cipher, { ...call, call: 'c2' }, 1), name)
  t.equal(pin.isSet, false, 'not by the answer to another call')
  openCallAnswer(cipher, sealAnswer(cipher, call, 1), name)
  t.equal(pin.isSet, true)
  t.strictSame(openCallAnswer(cipher, bare, name), { type: 'astray' })
  t.end()
})
