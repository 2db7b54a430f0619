import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** User and system time of this process, in microseconds. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Private memory of this process, in bytes. Collects garbage first, so that only live memory is counted. */
export function privateBytes(): number {
  collectGarbage()
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8')
  return Number(/^Private_Dirty:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: (how: object) => void = runInNewContext('gc')
  // The most thorough collection: it also returns free pages to the system.
  for (let round = 0; round < 3; round++) collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
