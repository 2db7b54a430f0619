import t from 'tap'
import { openStore } from '../../../../lib/store/open.ts'
import { StoreBusy } from '../../../../lib/store/store.ts'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

t.test('a ping is not answered after a message that a busy database did not store: its connection is closed [D1] [M4]', async t => {
  const data = t.testdir()
  const store = await openStore('sqlite:busy.db', { dataDirectory: data, onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  let isBusy = true
  const appendMessages: typeof store.appendMessages = async (...ask) => {
    if (isBusy) throw new StoreBusy('The database cannot be reached.')
    return store.appendMessages(...ask)
  }
  const server = await startServer(t, { store: { ...store, appendMessages }, data: t.testdir({ own: {} }) })
  const ada = await signUp(t, server)
  const sid = await ada.openSession()
  const message = { sid, message: 'aGk=', localId: 'a' }

  const socket = await ada.connect()
  const closed = next(socket, 'disconnect')
  socket.emit('message', message)
  const answer = socket.emitWithAck('ping').then(
    () => 'answered',
    () => 'not answered'
  )
  await closed
  t.equal(await answer, 'not answered')

  isBusy = false
  const again = await ada.connect()
  again.emit('message', message)
  t.same(await again.emitWithAck('ping'), {})
  t.match((await ada.call('GET', `/v3/sessions/${sid}/messages`)).body.messages, [{ seq: 1, localId: 'a' }])
})
