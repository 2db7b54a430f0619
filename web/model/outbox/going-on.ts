import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { trueNow } from '../../core/clock.ts'
import type { DeviceDb } from '../../core/device-db.ts'
import { keptList } from '../../core/kept-list.ts'
import type { Transcript } from '../transcript/transcript.ts'

/** A session whose agent reached its limit, and that shall go on by itself when that ends. */
export interface GoingOn {
  /** The session, which goes on once per window. */
  readonly key: string
  /** ms since 1970 */
  readonly at: number
  readonly text: string
}

/** Kept on this device, also while the app is closed; it goes on when the time has come and the app is open. */
export interface GoingsOn {
  readonly all: ReadonlySignal<readonly GoingOn[]>
  ask(session: string, at: number, text: string): Promise<void>
  withdraw(session: string): Promise<void>
  readonly isRead: Promise<void>
  close(): void
}

export interface GoingOnSources {
  say(session: string, text: string): Promise<void>
  /** Whether a message can be sealed for it now. */
  canSay(session: string): boolean
  readonly isLinked: ReadonlySignal<boolean>
  readonly now?: () => number
  /** Returns what takes it back. */
  readonly after?: (ms: number, run: () => void) => () => void
  readonly db?: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>>
}

/** Longer waits would run out at once in a browser. */
const longestMs = 2 ** 31 - 1

export function openGoingsOn({ say, canSay, isLinked, now = trueNow, after = timer, db }: GoingOnSources): GoingsOn {
  const kept = keptList<GoingOn>('going-on', db)
  const all = signal<readonly GoingOn[]>([])
  const forget = (session: string): void => {
    all.value = all.peek().filter(({ key }) => key !== session)
  }
  const goOn = async ({ key, text }: GoingOn): Promise<void> => {
    forget(key)
    // Of two tabs the one that takes it out of the list says it.
    const before = await kept.change(key, () => undefined)
    if (before !== undefined) await say(key, text)
  }
  const isRead = kept
    .read()
    .catch(() => [])
    .then(list => {
      all.value = [...list, ...all.peek()]
    })
  const stop = effect(() => {
    if (!isLinked.value) return
    const stops = all.value.map(each =>
      after(Math.min(longestMs, Math.max(0, each.at - now())), () => {
        if (now() >= each.at && canSay(each.key)) void goOn(each).catch(() => {})
      })
    )
    return () => {
      for (const each of stops) each()
    }
  })
  return {
    all,
    isRead,
    async ask(session, at, text) {
      const entry = { key: session, at, text }
      await kept.put(entry)
      forget(session)
      all.value = [...all.peek(), entry]
    },
    async withdraw(session) {
      forget(session)
      await kept.drop(session)
    },
    close: stop
  }
}

/** When the limit ends that is the last that was heard; undefined when it is over, or something came after it. */
export function limitEnd({ items }: Pick<Transcript, 'items'>, at: number): number | undefined {
  const last = items.findLast(item => item.type === 'limit' || item.type === 'mine' || item.type === 'prose' || item.type === 'step')
  return last?.type === 'limit' && last.endsAt !== undefined && last.endsAt > at ? last.endsAt : undefined
}

function timer(ms: number, run: () => void): () => void {
  const waiting = setTimeout(run, ms)
  return () => clearTimeout(waiting)
}
