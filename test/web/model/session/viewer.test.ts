import { mock } from 'node:test'
import { signal } from '@preact/signals'
import t, { type Test } from 'tap'
import { cryptoReady, Unreachable } from '../../../../lib/client/index.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import type { SessionFacts } from '../../../../web/model/session/facts.ts'
import { reportViewing } from '../../../../web/model/session/viewer.ts'
import { turn } from '../../../client/link/fake-link.ts'
import { machine } from '../../kit/machine.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

t.before(() => cryptoReady())

type Facts = Pick<SessionFacts, 'presence' | 'methods'>
const here: Facts = { presence: 'here', methods: ['watch'] }

/** A screen with session `s1`. */
function screen(t: Test, known: Facts | undefined = here, watch: unknown = {}) {
  const page = pageGlobals(t)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { link, asked, state } = machine<Pick<Live, 'socket' | 'cipherOfMachine'>>({ watch })
  const facts = signal(known as SessionFacts | undefined)
  const live = { socket: link.socket, cipherOf: link.cipherOfMachine } as unknown as Live
  const viewing = reportViewing({ id: 's1', live, facts })
  t.teardown(viewing.stop)
  return {
    ...{ page, facts, state, viewing },
    /** What the session was told since the last time. */
    async told() {
      await turn()
      return asked.splice(0).map(each => {
        const [method, { viewer, isWatching }] = each as [string, { viewer: string; isWatching: boolean }]
        t.equal(method, 's1:watch')
        viewers.add(viewer)
        return isWatching
      })
    }
  }
}
const viewers = new Set<string>()

t.test('a session is told that it is on screen, again every half minute, and when it no longer is', async t => {
  viewers.clear()
  const { told, viewing } = screen(t)
  t.same(await told(), [true])
  mock.timers.tick(29_999)
  t.same(await told(), [])
  mock.timers.tick(1)
  t.same(await told(), [true])
  viewing.stop()
  t.same(await told(), [false])
  mock.timers.tick(60_000)
  t.same(await told(), [])
  t.equal(viewers.size, 1)
})

t.test('a hidden page is no viewer, nor is that of a session that is away or does not listen', async t => {
  const { told, page, facts, viewing } = screen(t)
  t.same(await told(), [true])
  page.show(false)
  t.same(await told(), [false])
  page.show(true)
  t.same(await told(), [true])
  for (const other of [{ ...here, presence: 'away' }, { ...here, methods: [] }, { ...here, methods: undefined }, undefined]) {
    facts.value = other as SessionFacts | undefined
    t.same(await told(), [false])
    facts.value = here as SessionFacts
    t.same(await told(), [true])
  }
  viewing.stop()
  await told()
  page.show(false)
  page.show(true)
  t.same(await told(), [], 'it has stopped')
})

t.test('growing text is asked for in full at most every two seconds, and only on screen', async t => {
  const { told, page, viewing } = screen(t)
  let now = 5_000
  t.intercept(performance, 'now', { value: () => now })
  await told()
  viewing.ask()
  viewing.ask()
  t.same(await told(), [true])
  now += 1_999
  viewing.ask()
  t.same(await told(), [])
  now += 1
  viewing.ask()
  t.same(await told(), [true])
  page.show(false)
  await told()
  now += 5_000
  viewing.ask()
  t.same(await told(), [])
})

t.test('nothing waits for a session that cannot be told', async t => {
  const { told, state, viewing } = screen(t, here, new Unreachable('not-connected'))
  t.same(await told(), [])
  state.hasKey = false
  viewing.ask()
  t.same(await told(), [])
})
