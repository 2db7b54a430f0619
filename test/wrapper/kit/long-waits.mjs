// Preloaded into a process: SIGUSR2 ends its waits of half a minute and longer at once.
const longMs = 30_000
const usual = globalThis.setTimeout
const waiting = new Map()

globalThis.setTimeout = (run, ms, ...rest) => {
  const timer = usual(run, ms, ...rest)
  if (ms >= longMs) waiting.set(timer, () => run(...rest))
  return timer
}
Object.defineProperties(globalThis.setTimeout, Object.getOwnPropertyDescriptors(usual))

const forget = globalThis.clearTimeout
globalThis.clearTimeout = timer => {
  waiting.delete(timer)
  forget(timer)
}

process.on('SIGUSR2', () => {
  for (const [timer, end] of [...waiting]) {
    clearTimeout(timer)
    end()
  }
})
