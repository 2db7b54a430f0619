import { readdirSync, readFileSync } from 'node:fs'
import { pause } from '../../../lib/async/pause.ts'

/** The processes of a program that were started with this HOME. Linux only. */
export function running(program: string, home: string): { pid: number; args: string[] }[] {
  return readdirSync('/proc').flatMap(name => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
      const isIt = args.slice(0, 2).includes(program) && readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
      return isIt ? [{ pid, args }] : []
    } catch {
      // It ended meanwhile.
      return []
    }
  })
}

/** Resolves when none of them runs any more. */
export async function noneRuns(program: string, home: string): Promise<void> {
  while (running(program, home).length > 0) await pause(50)
}
