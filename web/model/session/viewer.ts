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
  /** Makes the session send growing text in full: a part was missed. */
  ask(): void
  /** It is no longer on this screen. */
  stop(): void
}

/** Tells a session that it is on this screen: for people at its terminal, and so that growing text is sent here. */
export function reportViewing({ id, live, facts }: WatchingSources): Watching {
  const viewer = newId()
  const isVisible = signal(document.visibilityState === 'visible')
  const follow = () => {
    isVisible.value = document.visibilityState === 'visible'
  }
  const say = (isWatching: boolean) => {
    const cipher = live.cipherOf(id)
    // Nothing waits for it: a viewer that goes silent is dropped.
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
