import t from 'tap'
import {
  createMemoryJournal,
  type Feed,
  newUserText,
  openFeed,
  openMessage,
  openOutbox,
  sealDraft,
  sendOver
} from '../../lib/client/index.ts'
import { type Client, startWorld } from './world.ts'

t.test(
  'two writers with twenty disconnects end with the same complete history, each message once, each in its order [S1 W1 W2 X1]',
  async t => {
    const world = await startWorld(t)
    const { session, key } = await world.openSession()
    const perClient = 200
    const cuts = 20

    async function join(name: string, client: Client) {
      const history: string[] = []
      const complete = Promise.withResolvers<void>()
      const feed: Feed = openFeed({
        ...client,
        session: session.id,
        after: 0,
        onMessages(messages) {
          for (const message of messages) {
            const opened = openMessage(key.cipher, message)
            history.push(opened.ok && opened.body.role === 'user' ? opened.body.content.text : '?')
          }
          if (history.length >= 2 * perClient) complete.resolve()
        }
      })
      const outbox = await openOutbox({
        journal: createMemoryJournal(),
        send: sendOver(client.rest),
        socket: client.socket,
        onStored: messages => feed.take(messages),
        onSetAside(draft) {
          t.fail(`${draft.localId} was set aside`)
        }
      })
      t.teardown(async () => {
        feed.close()
        await outbox.close()
      })
      const write = async () => {
        for (let index = 0; index < perClient; index++) {
          await outbox.put(sealDraft(key.cipher, session.id, newUserText(`${name} ${index}`)))
          // Every tenth message waits until the last ones are stored, so that cuts fall between, into and behind requests.
          if (index % 10 === 9) {
            if (index % (perClient / cuts) === perClient / cuts - 1) client.line.cut()
            await outbox.idle()
          }
        }
        await outbox.idle()
      }
      return { history, complete: complete.promise, write, feed }
    }

    const [phone, wrapper] = [await world.client(), await world.client({ as: 'session', id: session.id })]
    const both = [await join('phone', phone), await join('wrapper', wrapper)] as const
    await Promise.all(both.map(({ write }) => write()))
    phone.socket.reconnectNow()
    wrapper.socket.reconnectNow()
    await Promise.all(both.map(({ complete }) => complete))

    t.strictSame(both[0].history, both[1].history)
    t.equal(new Set(both[0].history).size, 2 * perClient)
    for (const name of ['phone', 'wrapper']) {
      t.strictSame(
        both[0].history.filter(text => text.startsWith(name)),
        Array.from({ length: perClient }, (_, index) => `${name} ${index}`)
      )
    }
    t.ok(phone.line.connects > cuts / 2, 'the lines were really cut')
  }
)
