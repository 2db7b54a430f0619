import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { callSession, newId } from '../../../lib/client/index.ts'
import type { Live } from '../account/live.ts'
import type { SessionFacts } from './facts.ts'

interface WatchingSources {
  readonly id: string
  readonly live: Live
  readonly facts: ReadonlySignal<SessionFacts | undefined>
}

const sayAgainMs = 30_000
const askAtMostEveryMs = 2_000

interface Watching {
  /** Lets the session show whole what grows now: some of it was missed. */
  ask(): void
  /** It is on this screen no longer. */
  stop(): void
}

/** Says to a session that it is on this screen: for who sits at its terminal, and so that it shows here what grows. */
export function sayWatching({ id, live, facts }: WatchingSources): Watching {
  const viewer = newId()
  const isVisible = signal(document.visibilityState === 'visible')
  const follow = () => {
    isVisible.value = document.visibilityState === 'visible'
  }
  const say = (isWatching: boolean) => {
    const cipher = live.cipherOf(id)
    // Nothing waits for it: who is not heard is forgotten.
    if (cipher) void callSession(live.socket, cipher, id, 'watch', { viewer, isWatching }).catch(() => {})
  }
  const isShown = computed(() => isVisible.value && facts.value?.presence === 'here' && facts.value.methods?.includes('watch') === true)
  const stop = effect(() => (isShown.value ? begin(say) : undefined))
  document.addEventListener('visibilitychange', follow)
  let askedAt = Number.NEGATIVE_INFINITY
  return {
    ask() {
      const now = performance.now()
      if (!isShown.peek() || now - askedAt < askAtMostEveryMs) return
      askedAt = now
      say(true)
    },
    stop() {
      document.removeEventListener('visibilitychange', follow)
      stop()
    }
  }
}

function begin(say: (isWatching: boolean) => void): () => void {
  say(true)
  const again = setInterval(() => say(true), sayAgainMs)
  return () => {
    clearInterval(again)
    say(false)
  }
}
