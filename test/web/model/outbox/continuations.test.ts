import { signal } from '@preact/signals'
import t from 'tap'
import { type Continuation, continuationKey, continuations, limitEnd, newContinuation } from '../../../../web/model/outbox/continuations.ts'
import { openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { addMessages, emptyTranscript } from '../../../../web/model/transcript/transcript.ts'
import { memoryDb, until } from '../../kit/device.ts'

function device() {
  const db = memoryDb()
  const said: string[] = []
  const isLinked = signal(true)
  const timers = new Set<() => void>()
  let now = 1000
  return {
    said,
    isLinked,
    /** Advances the clock and runs due timers. */
    pass(to: number) {
      now = to
      for (const run of [...timers]) run()
    },
    openApp() {
      const continuation = continuations({
        async say(session, text) {
          said.push(`${session}: ${text}`)
        },
        canSay: () => true
      })
      return openQueue<Continuation>({
        kinds: { continuation },
        isLinked,
        now: () => now,
        after(_ms, run) {
          timers.add(run)
          return () => timers.delete(run)
        },
        db: async () => db
      })
    }
  }
}

t.test('a session set to continue after its limit does so once, also after the app was closed [U7]', async t => {
  const { openApp, pass, said } = device()
  const before = openApp()
  await before.put(newContinuation('s1', 5000, 'Continue.'))
  pass(4000)
  t.equal(before.all.value.length, 1, 'not before its time')
  await before.close()
  const [one, two] = [openApp(), openApp()]
  await Promise.all([one.isRead, two.isRead])
  pass(5000)
  await until(one.all, all => all.length === 0)
  await until(two.all, all => all.length === 0)
  const later = openApp()
  await later.isRead
  t.strictSame(said, ['s1: Continue.'])
  t.strictSame(later.all.value, [])
})

t.test('offline it waits for a link, and a cancelled one never continues [U7]', async t => {
  const { openApp, pass, said, isLinked } = device()
  const goings = openApp()
  await goings.put(newContinuation('s1', 5000, 'Continue.'))
  isLinked.value = false
  pass(6000)
  t.strictSame(said, [])
  await goings.withdraw(continuationKey('s1'))
  isLinked.value = true
  pass(7000)
  const later = openApp()
  await later.isRead
  t.strictSame([said, later.all.value], [[], []])
})

t.test('a limit is shown while it lasts and until something follows it', async t => {
  const limit = { role: 'agent' as const, content: { type: 'event', id: 'e', data: { type: 'limit-reached', endsAt: 9000 * 1e8 } } }
  const at = 1000
  const heard = addMessages(emptyTranscript, [{ seq: 1, localId: null, at, body: limit as never }])
  t.equal(limitEnd(heard, at), 9000 * 1e8)
  t.equal(limitEnd(heard, 9000 * 1e8), undefined)
  const text = { role: 'user' as const, content: { type: 'text' as const, text: 'Go on' }, meta: { sentFrom: 'web' } }
  t.equal(limitEnd(addMessages(heard, [{ seq: 2, localId: 'l', at, body: text }]), at), undefined)
})
