import { useRef, useState } from 'preact/hooks'

/** One action at a time: while `run` is in progress, `isBusy` is true and further runs are ignored. No state is set after unmounting. */
export function useBusy(): { isBusy: boolean; run(work: () => Promise<void>): Promise<void> } {
  const [isBusy, setBusy] = useState(false)
  const isRunning = useRef(false)
  return {
    isBusy,
    async run(work) {
      if (isRunning.current) return
      isRunning.current = true
      setBusy(true)
      try {
        await work()
      } finally {
        isRunning.current = false
        setBusy(false)
      }
    }
  }
}
