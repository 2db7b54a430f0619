import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerOptions } from '../lib/options.ts'
import { ownProgram } from '../lib/wrapper/home/own-process.ts'

/** Runs this same program to take a backup and restore it beside the data, where it is checked again and removed. */
export function takeBackupOf({ data, store }: Pick<ServerOptions, 'data' | 'store'>) {
  const drill = join(data, 'drill')
  return async (file: string, signal: AbortSignal): Promise<void> => {
    await run(['backup', file, '--data', data, '--store', store], signal)
    // An interrupted run may have left files.
    rmSync(drill, { recursive: true, force: true })
    try {
      // The store is given explicitly, so that the environment cannot point at the one in use.
      await run(['restore', file, '--data', drill, '--store', 'sqlite:afield.db'], signal)
    } catch (error) {
      // A backup that cannot be restored must not replace one that can.
      rmSync(file, { force: true })
      throw error
    } finally {
      rmSync(drill, { recursive: true, force: true })
    }
  }
}

async function run(words: string[], signal: AbortSignal): Promise<void> {
  const { command, args } = ownProgram(words)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], signal })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    said = (said + text).slice(-1000)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(said.trim().split('\n').at(-1) || `It exited with code ${code}.`)
}
