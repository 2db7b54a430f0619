/** Numbers that a seed decides, so that a run can be had again. */
export interface Random {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    between,
    chance: probability => next() < probability,
    pick(from) {
      const picked = from[between(0, from.length - 1)]
      if (picked === undefined) throw new Error('There is nothing to pick from.')
      return picked
    }
  }
}
