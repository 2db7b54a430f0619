import t from 'tap'
import type { TrackedNotification } from '../../../web/model/notifications/channel-health.ts'
import { barsInWords, lastWords } from '../../../web/notifications/health-words.ts'
import { notifications as words } from '../../../web/words/notifications.ts'

const now = Date.UTC(2026, 0, 2, 12)
const arrived = (delayMs: number | null): TrackedNotification => ({ at: now - 5 * 60_000, has: 'arrived', delayMs })
const missed: TrackedNotification = { at: now - 5 * 60_000, has: 'missed' }

t.test('the last notification is told with its delay, if that is known, and two missed ones together', t => {
  t.equal(lastWords(undefined, 'untried', now), 'Send a test to see whether it arrives.')
  t.equal(lastWords(missed, 'missing', now), 'The last two did not arrive.')
  t.equal(lastWords(missed, 'reaching', now), 'The last one, 5 min ago, did not arrive')
  t.equal(lastWords(arrived(null), 'reaching', now), 'Last one 5 min ago')
  t.equal(lastWords(arrived(1200), 'reaching', now), 'Last one 5 min ago, shown after 1.2 s')
  t.end()
})

t.test('the bars are read out as their number, those that did not arrive, and the slowest', t => {
  t.equal(barsInWords([arrived(1200), arrived(14_000), arrived(null)]), 'Last 3: all arrived, slowest 14 s')
  t.equal(barsInWords([arrived(1200), missed]), 'Last 2: 1 did not arrive, slowest 1.2 s')
  t.equal(barsInWords([missed, missed]), 'Last 2: none arrived')
  t.end()
})

t.test('what to do about missed notifications depends on the browser, unless the service is the cause', async t => {
  t.intercept(globalThis, 'document', { value: { querySelector: () => null } })
  t.intercept(globalThis, 'isSecureContext', { value: false })
  const { browser, causeHere } = await import('../../../web/notifications/cause-here.ts')
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
  const agents = {
    android: `Mozilla/5.0 (Linux; Android 10; K) ${chrome}`,
    ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    safari: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    computer: `Mozilla/5.0 (X11; Linux x86_64) ${chrome}`,
    firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  }
  const at = (userAgent: string) => {
    t.intercept(globalThis, 'navigator', { value: { userAgent, maxTouchPoints: 0, platform: '' } })
    return [browser(), causeHere('held-back')]
  }
  const { android, ios, computer, gone, others } = words.causesHere
  t.same(at(agents.android), ['android', android])
  t.same(at(agents.ios), ['ios', ios])
  t.same(at(agents.safari), ['safari', computer])
  t.same(at(agents.computer), ['computer', computer])
  t.same(at(agents.firefox), ['computer', computer])
  t.same(causeHere('gone'), gone)
  for (const cause of ['not-allowed', 'wants-token', 'no-answer', 'refused'] as const) t.same(causeHere(cause), others, cause)
})
