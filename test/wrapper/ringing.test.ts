import t, { type Test } from 'tap'
import { fetch } from 'undici'
import { pause } from '../../lib/async/pause.ts'
import { openHome } from '../../lib/wrapper/credentials.ts'
import { deliverLeftovers } from '../../lib/wrapper/leftovers.ts'
import { listSessions } from '../../lib/wrapper/session-folder.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import { startStandIn, tokenOf } from '../server/push/stand-in.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

/** A computer behind a line that can be cut, on which the demo runs, and a watch that rings over ntfy. */
async function startWorld(t: Test) {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, line)
  const ada = await signUp(t, server, phone.secret)
  const watch = await startStandIn(t)
  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const session = await phone.session()
  await ada.call('POST', '/v1/push-tokens', { body: { token: tokenOf('Ntfy', { url: `${watch.url}/watch` }) } })
  const rang = () => watch.requests.map(({ method, headers }) => (method === 'DELETE' ? 'cleared' : String(headers['title'])))
  const kept = () => listSessions(home)[0]?.notes.notices ?? []
  const until = async (when: () => boolean) => {
    while (!when()) await pause(20)
  }
  /** The agent asks while nobody can be reached. */
  const askWhileCut = async () => {
    const growing = session.until(session => session.partials.length > 0)
    await session.say('SCRIPT: slow 2500 one two three four five six; tool write {"path":"old.txt","content":"x"}')
    await growing
    await line.closePort()
    line.cut()
    await until(() => kept().some(({ kind }) => kind === 'permission'))
  }
  return { server, line, phone, home, ada, watch, wrapper, session, rang, kept, until, askWhileCut }
}

t.test('what the agent asks while the line is cut rings once when it is back, and is cleared once it was answered [W15]', async t => {
  const { line, watch, session, rang, kept, askWhileCut } = await startWorld(t)
  await askWhileCut()
  t.match(kept(), [{ kind: 'permission', isSent: false }])
  t.same(rang(), [])
  await line.openPort()
  await watch.came(1)
  t.same(rang(), ['Your agent needs a decision'])
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: true })
  await watch.came(2)
  t.same(rang().slice(0, 2), ['Your agent needs a decision', 'cleared'])
})

t.test('a wrapper that is killed while it asks is told of once, and its question rings no more [W15]', async t => {
  const { line, home, watch, wrapper, rang, askWhileCut } = await startWorld(t)
  await askWhileCut()
  await wrapper.kill()
  await line.openPort()
  const own = openHome({ AFIELD_HOME: home })
  for (const expected of [1, 0]) t.match(await deliverLeftovers({ home: own, fetch, withinMs: 30_000 }), { found: expected })
  await watch.came(1)
  t.same(rang(), ['A session stopped'])
})

t.test('a wrapper that is killed after it rang settles that, and says that the session stopped [W15]', async t => {
  const { home, watch, wrapper, session, rang } = await startWorld(t)
  await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
  await watch.came(1)
  await wrapper.kill()
  await deliverLeftovers({ home: openHome({ AFIELD_HOME: home }), fetch, withinMs: 30_000 })
  await watch.came(3)
  t.same(rang().toSorted(), ['A session stopped', 'Your agent needs a decision', 'cleared'])
})

t.test('a session that its person ends rings for nobody', async t => {
  const { wrapper, session, rang, kept } = await startWorld(t)
  await session.say('SCRIPT: text hello')
  await session.call('killSession', {})
  await wrapper.ended
  t.same(kept(), [])
  t.notMatch(rang(), ['A session stopped'])
})
