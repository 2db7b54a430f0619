import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { linkedComputer } from './world.ts'
import { runWrapper } from './wrapper.ts'

/** A computer whose daemon is up, and a folder in which its policy lets sessions begin. */
export async function daemonOf(t: Test, server: { url: string }, env: Record<string, string> = {}) {
  const { phone, home } = await linkedComputer(t, server)
  const allowed = join(home, '..', 'code')
  mkdirSync(allowed)
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [allowed] }), { mode: 0o600 })
  const again = async () => {
    const process = runWrapper(t, { home, args: ['daemon', 'run'], env })
    await process.says(/ live\n/)
    return process
  }
  const process = await again()
  return { phone, home, allowed, process, machine: await phone.machine(), again }
}
