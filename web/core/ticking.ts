import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { trueNow } from './clock.ts'

const now = signal(trueNow())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The current time in ms since 1970, updated each second while a part on screen needs it; not while the page is hidden. */
export function useTicking(isCounting: boolean): number {
  useEffect(() => {
    if (!isCounting) return
    users++
    timer ??= setInterval(() => {
      if (document.visibilityState === 'visible') now.value = trueNow()
    }, 1000)
    now.value = trueNow()
    return () => {
      users--
      if (users > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [isCounting])
  return isCounting ? counting.value : 0
}

const counting: ReadonlySignal<number> = now
