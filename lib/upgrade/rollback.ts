import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { CannotStart, exitCodes } from '../exit.ts'
import type { ServerOptions } from '../options.ts'
import { ownerOf } from '../server/data-directory.ts'
import { readNeededSchema, sinceMigration } from '../store/open.ts'
import { previousOf } from './installation.ts'
import { putBack } from './program-file.ts'
import { becomesReady, findServer } from './running-server.ts'
import type { Supervisor } from './supervisor.ts'
import { tryAlone } from './trial.ts'

interface RollbackAsk {
  /** The program that is replaced by the previous one beside it. */
  file: string
  options: Pick<ServerOptions, 'data' | 'store'>
  /** Of the running server; undefined if there is none, or nothing that restarts it. */
  supervisor: Supervisor | undefined
  /** Whether what was stored since a schema upgrade may be moved aside. */
  mayDiscard: boolean
  tell: (step: string) => void
  signal: AbortSignal
}

interface RolledBack {
  version: string
  /** The copy from before a schema upgrade that is the database again. */
  copy: string | undefined
}

const readyWithinMs = 60_000

/**
 * Puts the previous program back, with the database from before a schema upgrade if it cannot read the present one. Throws `CannotStart`, and
 * changes nothing, if something was stored since then and may not be discarded.
 */
export async function goBack({ file, options, supervisor, mayDiscard, tell, signal }: RollbackAsk): Promise<RolledBack> {
  const previous = previousOf(file)
  if (!existsSync(previous)) throw new CannotStart(`There is no previous version: ${previous} does not exist.`)
  tell('trying the previous program')
  const { version, schema } = await tryAlone(previous, signal)
  const current = await readNeededSchema(options.store, options.data)
  const needsCopy = current !== undefined && current > schema
  if (!needsCopy) {
    putBack(file)
    if (supervisor) {
      tell(`restarting ${supervisor.name}`)
      await supervisor.restart()
      await mustBecomeReady(options.data, version)
    }
    return { version, copy: undefined }
  }
  if (supervisor) await supervisor.stop()
  else await refuseRunning(options.data)
  try {
    const copy = await copyToUse(options, { schema, current, version, mayDiscard })
    tell('restoring the database from before the upgrade')
    await restore(previous, copy, options)
    putBack(file)
    return { version, copy }
  } finally {
    // Also after a refusal: then the newer program serves again.
    await supervisor?.start()
    if (supervisor && !existsSync(previous)) await mustBecomeReady(options.data, version)
  }
}

async function refuseRunning(data: string): Promise<void> {
  const server = await findServer(data)
  if (server) throw new CannotStart(`Stop the server first (process ${server.pid}): its database goes back too.`)
}

async function copyToUse(
  { data, store }: Pick<ServerOptions, 'data' | 'store'>,
  { schema, current, version, mayDiscard }: { schema: number; current: number; version: string; mayDiscard: boolean }
): Promise<string> {
  const since = await sinceMigration(store, data, schema)
  if (!since) {
    throw new CannotStart(
      `Version ${version} cannot read the database (schema ${current}, it knows ${schema}), and there is no copy from before the upgrade. Restore a backup from then with the previous program.`
    )
  }
  if (since.stored.length === 0 || mayDiscard) return since.copy
  const what = since.stored.map(({ table, rows }) => `${table.replaceAll('_', ' ')} ${rows}`).join(', ')
  throw new CannotStart(
    `Version ${version} needs the database from before the upgrade, and since then this was stored or changed (rows): ${what}. Nothing was changed. To go back without that, give --discard-newer-data; the newer database is then moved aside.`
  )
}

/** By the previous program, whose schema it keeps, and as the user whose data it is. */
async function restore(program: string, copy: string, { data, store }: Pick<ServerOptions, 'data' | 'store'>): Promise<void> {
  const args = ['restore', copy, '--force', '--data', data, '--store', store]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...ownerOf(data) })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => (said = (said + text).slice(-2000)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new CannotStart(said.trim().split('\n').at(-1) || `The previous program exited with ${code}.`, exitCodes.storage)
}

async function mustBecomeReady(data: string, version: string): Promise<void> {
  if (await becomesReady(data, version, readyWithinMs, () => {})) return
  throw new CannotStart(
    `Version ${version} is in place, but was not ready within ${readyWithinMs / 1000} s: see its log.`,
    exitCodes.storage
  )
}
