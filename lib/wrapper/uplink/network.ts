import { networkInterfaces } from 'node:os'

export interface NetworkWatch {
  /** Those of this computer towards others. */
  addresses(): readonly string[]
  /** In ms. */
  now(): number
  /** Returns how to stop. */
  every(ms: number, look: () => void): () => void
}

const everyMs = 2_000
// A busy computer is late by less.
const sleptMs = 10_000

/**
 * Calls `onReturn` when the way to others is likely back: this computer has an address that it had not, or has slept. Nothing of the
 * system says so to a program, so it looks now and then. Returns how to stop.
 */
export function watchNetwork(onReturn: () => void, { addresses, now, every }: NetworkWatch = ofThisComputer): () => void {
  let known = new Set(addresses())
  let lookedAt = now()
  return every(everyMs, () => {
    const found = addresses()
    const isBack = found.some(address => !known.has(address)) || now() - lookedAt > everyMs + sleptMs
    known = new Set(found)
    lookedAt = now()
    if (isBack) onReturn()
  })
}

const ofThisComputer: NetworkWatch = {
  addresses,
  now: Date.now,
  every(ms, look) {
    const timer = setInterval(look, ms).unref()
    return () => clearInterval(timer)
  }
}

function addresses(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap(all => all?.filter(({ internal }) => !internal).map(({ address }) => address) ?? [])
  } catch {
    // Some systems, such as Android, tell no program.
    return []
  }
}
