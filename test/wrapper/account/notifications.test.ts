import t from 'tap'
import { next, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { startStandIn } from '../../server/push/stand-in.ts'
import { demo } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a person notifies the phone from the command line, on behalf of the running session', async t => {
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
  t.match(strange.output, /has no session nobody/)
})

t.test('a computer adds ntfy and a webhook, tests them, sees what arrived, and removes one', async t => {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const { home } = await linkedComputer(t, server)
  const service = await startStandIn(t)
  const push = async (...args: string[]) => {
    const wrapper = runWrapper(t, { home, args: ['push', ...args] })
    return { code: await wrapper.ended, output: wrapper.output }
  }
  t.match(await push(), { code: 0, output: /No device gets notifications yet/ })
  t.match(await push('test'), { code: 78, output: /No device gets notifications yet/ })
  t.match(await push('add', 'pigeon', 'coop'), { code: 78, output: /Add what\? For example:\n {2}.* push add ntfy/ })
  t.match(await push('add', 'ntfy', 'ftp://nowhere'), { code: 78, output: /is not a web address/ })

  t.match(await push('add', 'ntfy', `${service.url}/mine`, '--ntfy-token', 'a b'), {
    code: 1,
    output: /rejected the request: it cannot use this address or token/
  })
  t.match(await push('add', 'ntfy', `${service.url}/mine`), { code: 0, output: /Added\./ })
  const hook = await push('add', 'webhook', `${service.url}/hook`)
  t.match(hook, { code: 0, output: /shown only once:\n {2}whsec_/ })
  service.answer = ({ path }) => ({ status: path === '/hook' ? 403 : 200 })
  t.match(await push('test'), { code: 1, output: /1 {2}ntfy: handed over\n {2}2 {2}webhook: refused \(HTTP 403\)/ })
  t.match(await push('test', '1'), { code: 0, output: /1 {2}ntfy: handed over/ })
  t.same(service.requests.map(({ path }) => path).toSorted(), ['/hook', '/mine', '/mine'])

  const shown = (await push()).output
  t.match(shown, /1 +ntfy +\S.* 2 +unknown +20\d\d-.* handed over/)
  t.notMatch(shown, service.url, 'where a channel leads is not shown')
  t.match(await push('remove'), { code: 78, output: /Which one\?/ })
  t.match(await push('remove', '9'), { code: 78, output: /There is no channel 9/ })
  t.match(await push('remove', '2'), { code: 0, output: /Removed/ })
  t.notMatch((await push()).output, /webhook/)
})
