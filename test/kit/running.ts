import { existsSync, readFileSync } from 'node:fs'

/** Whether a process of this id runs, or has ended and was not yet waited for. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The process whose id a script writes into this file, once it is there. */
export async function pidIn(file: string): Promise<number> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
    await new Promise(setImmediate)
  }
}
