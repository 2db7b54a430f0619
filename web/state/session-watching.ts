import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { callSession, newId } from '../../lib/client/index.ts'
import type { Live } from './live.ts'
import type { SessionFacts } from './session-facts.ts'

export interface WatchingSources {
  readonly id: string
  readonly live: Live
  readonly facts: ReadonlySignal<SessionFacts | undefined>
}

const sayAgainMs = 30_000

/** Says to a session that it is on this screen, for who sits at its terminal; returned is what to call when it is no longer. */
export function sayWatching({ id, live, facts }: WatchingSources): () => void {
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
  return () => {
    document.removeEventListener('visibilitychange', follow)
    stop()
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
