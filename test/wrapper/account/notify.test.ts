import t from 'tap'
import { next, signUp } from '../../kit/person.ts'
import { demo } from '../kit/demo.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a person tells the phone something from the command line, in the name of the session that runs', async t => {
  const { server, phone, home, session, wrapper } = await demo(t)
  await wrapper.says(/ live\n/)
  const app = await signUp(t, server, phone.secret)
  const told = next(await app.connect(), 'ephemeral', ({ type }) => type === 'session-event')
  const notify = runWrapper(t, { home, args: ['notify', 'The', 'build', 'has ended'] })
  t.match(await told, { sessionId: session.id, body: 'The build has ended' })
  t.equal(await notify.ended, 0, notify.output)
  t.match(notify.output, /phone/)

  const strange = runWrapper(t, { home, args: ['notify', 'hi', '--session', 'nobody'] })
  t.equal(await strange.ended, 78)
  t.match(strange.output, /knows no session nobody/)
})
