import { programNameAt, version } from '../assets.ts'
import { CannotStart } from '../exit.ts'
import { hasLocalSockets } from '../local-socket/address.ts'
import type { ServerOptions } from '../options.ts'
import { askRunningServer } from '../server/control/ask.ts'
import { packagedUnit } from '../service/server-service.ts'
import { inspectStore, isPostgres } from '../store/open.ts'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** The server that uses the directory, and the state of its rows. */
export async function examineServer({ data }: Pick<ServerOptions, 'data'>): Promise<Finding[]> {
  try {
    const status = await askRunningServer(data, 'readStatus', {})
    if (!status) return [warn('server', 'not running on this directory', `Start it with: ${startCommand(packagedUnit())}`)]
    return [
      running(status.pid, status.version),
      ...(status.soundness ? [rows(status.soundness)] : []),
      ...(status.backups ? [backups(status.backups)] : [])
    ]
  } catch (error) {
    const says = error instanceof CannotStart ? error.message : `it cannot be reached (${codeOf(error)})`
    return [fail('server', says, 'See its log')]
  }
}

/** How a person starts the server: a package of the system has a unit, with its own user and options. */
export function startCommand(packaged: string | undefined): string {
  return packaged === undefined ? `${programNameAt()} serve` : 'systemctl start afield'
}

/** Whether a server runs on a directory, and where: it may have been started with other options. */
export interface Serving {
  /** False only if that is certain. */
  mayRun: boolean
  url?: string | undefined
}

export async function findServing(data: string): Promise<Serving> {
  try {
    const status = await askRunningServer(data, 'readStatus', {})
    return { mayRun: status !== undefined || !hasLocalSockets, url: status?.serving?.url }
  } catch {
    return { mayRun: true }
  }
}

function running(pid: number, theirs: string): Finding {
  if (theirs === version()) return ok('server', `running, version ${theirs}, process ${pid}`)
  return warn('server', `version ${theirs} is running, this is ${version()}`, 'Restart the server to run the installed version')
}

function rows({ scrubbed, rounds, damaged, isFull }: { scrubbed: number; rounds: number; damaged: number; isFull: boolean }): Finding {
  const of = 'stored rows'
  if (damaged > 0) return fail(of, `${damaged} rows are damaged`, 'Check the disk and the memory, then restore a backup')
  if (isFull) return fail(of, 'the disk is full: writes are rejected', 'Free some space; the server continues automatically')
  return ok(of, rounds > 0 ? 'all match their checksums' : `${scrubbed} match their checksums so far`)
}

function backups({ last, goodAt }: { last: 'ok' | 'failed' | 'none'; goodAt?: number | undefined }): Finding {
  const of = 'backups'
  const good = goodAt === undefined ? 'none taken yet' : `the last good one is from ${new Date(goodAt).toISOString()}`
  if (last === 'failed') return fail(of, `the last one failed; ${good}`, "See the server's log, and check the space in --backup-to")
  return ok(of, last === 'ok' ? `${good}, verified by restoring it` : good)
}

/** Any run goes on from the last row. The file is the usual one; a password is not repeated. */
function moveCommand(data: string, store: string): string {
  const to = new URL(store)
  if (to.password !== '') to.password = '***'
  return `${programNameAt()} migrate-store sqlite:afield.db ${to.href} --data ${data}`
}

/** Schema and structure, through a read-only connection. */
export async function examineDatabase({ data, store }: Pick<ServerOptions, 'data' | 'store'>): Promise<Finding> {
  const of = 'database'
  try {
    const seen = await inspectStore(store, data)
    if (seen === undefined) return warn(of, 'there is none yet', 'It is created when the server starts')
    if (seen.flaw !== undefined && isPostgres(store)) return fail(of, seen.flaw, 'Change the settings of its server')
    if (seen.flaw !== undefined) return fail(of, seen.flaw, 'Stop the server, keep a copy of its directory, and restore a backup')
    if ('isUnfinished' in seen && seen.isUnfinished)
      return fail(
        of,
        'it has only a part of the store that was being moved into it',
        `Go on where the old store is: ${moveCommand(data, store)}`
      )
    if (seen.neededSchema > seen.newestSchema) {
      return fail(of, `schema ${seen.schema} is newer than this program (${seen.newestSchema})`, 'Install that version or a later one')
    }
    if (seen.schema > seen.newestSchema) return ok(of, `intact; schema ${seen.schema} is newer, and this program can use it`)
    if (seen.schema < seen.newestSchema)
      return ok(of, `intact; schema ${seen.schema} is upgraded to ${seen.newestSchema} at the next start`)
    return ok(of, `whole, schema ${seen.schema}`)
  } catch (error) {
    if (isPostgres(store)) {
      const says = error instanceof CannotStart ? error.message.replace(/\.$/, '') : `it cannot be read (${codeOf(error)})`
      return fail(of, says, 'Check the server of the database, and the URL of --store')
    }
    return fail(of, `it cannot be read (${codeOf(error)})`, 'Restore a backup, or give the right file with --store')
  }
}
