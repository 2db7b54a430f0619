import { type ReadonlySignal, signal } from '@preact/signals'
import type { Live } from '../model/account/live.ts'
import { causeOf, type MissCause } from '../model/notifications/channel-health.ts'
import { type Channel, notificationsOf, sendTest } from '../model/notifications/notifications.ts'

/**
 * The stage of a test, with the time since it was requested. `handed-over`: to a service that reports nothing further; `sent`: on its way to a
 * device that reports arrival; `isLate`: it has not done so for long.
 */
export type TestRun =
  | { type: 'sending' }
  | { type: 'sent'; afterMs: number; isLate: boolean }
  | { type: 'handed-over' }
  | { type: 'shown'; beganAt: number; sentMs: number; shownMs: number }
  | { type: 'failed'; why: MissCause | 'unreached' }

interface TestOf {
  readonly run: ReadonlySignal<TestRun | undefined>
  send(): Promise<void>
  stop(): void
}

const lookEveryMs = 1_000
const lateAfterMs = 30_000
const lookForMs = 120_000

/** Sends a test to a channel and polls the server until the device has acknowledged it. */
export function testOf(link: Pick<Live, 'rest'>, { id, acknowledges }: Channel, after = pause): TestOf {
  const run = signal<TestRun | undefined>(undefined)
  const book = notificationsOf(link)
  let current: object | undefined

  async function follow(isCurrent: () => boolean, beganAt: number, sentMs: number): Promise<void> {
    while (isCurrent() && Date.now() - beganAt < lookForMs) {
      await after(lookEveryMs)
      await book.read()
      if (!isCurrent()) return
      const shownMs = shownAfter()
      if (shownMs !== undefined) {
        run.value = { type: 'shown', beganAt, sentMs, shownMs }
        return
      }
      run.value = { type: 'sent', afterMs: sentMs, isLate: Date.now() - beganAt > lateAfterMs }
    }
  }

  /** For the newest test, by the server's clock. */
  function shownAfter(): number | undefined {
    const now = book.reading.peek()
    const channel = now.type === 'loaded' ? now.channels.find(each => each.id === id) : undefined
    return channel?.health.last.find(({ kind }) => kind === 'test')?.arrivedAfterMs ?? undefined
  }

  return {
    run,
    async send() {
      const own = {}
      current = own
      const isCurrent = () => current === own
      const beganAt = Date.now()
      run.value = { type: 'sending' }
      try {
        const tried = await sendTest(link, id)
        if (!isCurrent()) return
        await book.read()
        const isSent = tried?.outcome === 'accepted' || tried?.outcome === 'arrived'
        if (!isSent) run.value = { type: 'failed', why: tried ? causeOf(tried) : 'gone' }
        else if (!acknowledges) run.value = { type: 'handed-over' }
        else {
          const afterMs = Date.now() - beganAt
          run.value = { type: 'sent', afterMs, isLate: false }
          await follow(isCurrent, beganAt, afterMs)
        }
      } catch {
        if (isCurrent()) run.value = { type: 'failed', why: 'unreached' }
      }
    },
    stop() {
      current = undefined
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
