import 'fake-indexeddb/auto'
import { signal } from '@preact/signals'
import t from 'tap'
import { createNumbers, cryptoReady } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import { openTexts } from '../../../../web/model/session/texts.ts'
import { emptyTranscript } from '../../../../web/model/transcript/transcript.ts'

t.before(() => cryptoReady())

t.test('a message whose withdrawal this device could not store does not look withdrawn', async t => {
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }
  let isFull = true
  const outbox = { pending: [], put: () => (isFull ? Promise.reject(new Error('no room')) : Promise.resolve()) }
  const live = Object.assign(Object.create(null), { cipherOf: () => cipher, outbox, onSetAside: () => () => {} })
  const texts = openTexts({
    id: 's1',
    live,
    session: signal(undefined),
    transcript: signal(emptyTranscript),
    wishes: () => ({}),
    onSaid() {}
  })
  t.teardown(() => texts.close())
  await t.rejects(texts.withdraw('l1'), { message: 'no room' })
  t.same([...texts.takenBack.value], [])
  isFull = false
  await texts.withdraw('l1')
  t.same([...texts.takenBack.value], ['l1'])
})
