import { useEffect, useMemo, useState } from 'preact/hooks'

interface Found<Value> {
  /** The latest answer, and its question. */
  readonly last?: Value
  readonly answered?: object
  readonly error?: unknown
  readonly failed?: object
}

/**
 * Asks when a component appears and whenever a part of `on` changes, which makes it another question. An answer that arrives after the next
 * question was asked is dropped. Asks nothing without `ask`. With `afterMs`, asks only what is still the question after so long.
 */
export function useAnswer<Value>(
  ask: (() => Promise<Value>) | false | undefined,
  on: readonly unknown[],
  afterMs?: number
): {
  /** The answer to the current question; undefined until it arrives. */
  value: Value | undefined
  /** The latest answer to any question, for what stays on screen until the next one. */
  last: Value | undefined
  /** Why the current question failed; undefined once it is answered. */
  error: unknown
  /** Asks the same question once more. Its answer stays until then, also if it fails this time. */
  again(): void
} {
  const question = useMemo(() => ({}), on)
  const [attempt, setAttempt] = useState(0)
  const [found, setFound] = useState<Found<Value>>({})
  useEffect(() => {
    if (!ask) return
    let isCurrent = true
    const find = () =>
      void ask().then(
        last => isCurrent && setFound({ last, answered: question }),
        error => isCurrent && setFound(before => ({ ...before, error, failed: question }))
      )
    const timer = afterMs === undefined ? find() : setTimeout(find, afterMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [question, !ask, attempt])
  const { last, answered, error, failed } = found
  return {
    value: answered === question ? last : undefined,
    last,
    error: failed === question ? error : undefined,
    again: () => setAttempt(count => count + 1)
  }
}
