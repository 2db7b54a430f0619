import 'fake-indexeddb/auto'
import { effect, signal } from '@preact/signals'
import t from 'tap'
import { cryptoReady, newUserText, sealDraft } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import { openMessages } from '../../../../web/model/session/messages.ts'

t.before(async () => {
  await cryptoReady()
  Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => setTimeout(draw) })
})

t.test('a session is live once the newest page of the server was read and decrypted', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const { content, localId } = sealDraft(cipher, 's1', newUserText('Prune the plums'))
  const record = { id: 'm1', seq: 1, localId, createdAt: 1, updatedAt: 1, content: { t: 'encrypted', c: content } }
  const nothing = () => () => {}
  const socket = { state: { type: 'live' }, onState: nothing, onUpdate: nothing, onEphemeral: nothing }
  const rest = { call: async () => ({ messages: [record], hasMore: false }) }
  // Only the members that reading uses.
  const live = Object.assign(Object.create(null), { rest, socket, cipherOf: () => cipher, onStored: nothing })
  const session = signal(Object.assign(Object.create(null), { id: 's1', seq: 1 }))
  const messages = openMessages({ id: 's1', live, session, isLinked: signal(true), onGap() {} })
  t.teardown(() => messages.close())
  const seen: string[] = []
  await new Promise<void>(resolve =>
    effect(() => {
      seen.push(messages.feed.value)
      if (messages.feed.value === 'live') resolve()
    })
  )
  t.equal(seen[0], 'opening')
  t.match(messages.transcript.value.items, [{ type: 'mine', text: 'Prune the plums' }])
})
