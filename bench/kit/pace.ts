/** Starts work at a constant rate, whether or not earlier work is done, as people do; resolves when all of it is. */
export async function atRate(perSecond: number, count: number, work: (number: number) => Promise<void>): Promise<void> {
  const beganAt = performance.now()
  const under: Promise<void>[] = []
  while (under.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - beganAt) / 1000) * perSecond))
    while (under.length < due) under.push(work(under.length))
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await Promise.all(under)
}

/** The quantile of the values, for example 0.99. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
