/** For each choice of each caller, the number of the last accepted call. */
interface LatestCalls {
  readonly entries: Iterable<readonly [choice: string, number: number]>
  /** False if this one or a later one was already accepted. */
  take(choice: string, number: number): boolean
}

// The oldest one is forgotten first.
const most = 1_000

export function createLatestCalls(known: LatestCalls['entries'] = []): LatestCalls {
  const numbers = new Map(known)
  return {
    entries: numbers,
    take(choice, number) {
      if (number <= (numbers.get(choice) ?? 0)) return false
      numbers.delete(choice)
      numbers.set(choice, number)
      const [oldest] = numbers.keys()
      if (numbers.size > most && oldest !== undefined) numbers.delete(oldest)
      return true
    }
  }
}
