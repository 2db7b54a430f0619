import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DeadlineExceeded, withDeadline } from '../../../async/deadline.ts'
import { untilFound, type WatchOptions } from '../../home/folder-watch.ts'
import { leanEnvironment, ownProgram } from '../../home/own-process.ts'
import { lease } from '../../home/ownership.ts'
import { makePrivateFolder } from '../../home/private-files.ts'
import { findOwned, readNotes, sessionsIn } from '../../home/session-folder.ts'
import { type StartNotes, writeStart } from '../../home/session-notes.ts'
import { plain } from '../../terminal/style.ts'

export type { StartNotes } from '../../home/session-notes.ts'

interface StartSession {
  /** Identifies a new session, and its files; generated if omitted. */
  tag?: string
  /** With which devices request its output while it starts. */
  start?: string | undefined
  home: string
  server: string
  directory: string
  /** The command of this program and its arguments, such as `claude` or `resume <id>`. */
  command: readonly string[]
  /** Other data for the session; not on the command line, which everybody on the computer can read. */
  notes: StartNotes
  /** Its name while it has no session. */
  title: string
  /** The full environment of the process. */
  env: Readonly<Record<string, string>>
}

/** A caller times out after 30 s, and an agent may need most of it. */
const startWithinMs = 25_000

const logKeptMs = 30 * 24 * 60 * 60 * 1000

/**
 * Runs a session in its own process, which outlives this one, and resolves with the server's id of it.
 * Rejects with the last output of a process that ends before it has one.
 */
export async function startSessionProcess({
  tag = randomUUID(),
  start,
  home,
  server,
  directory,
  command,
  notes,
  title,
  env
}: StartSession): Promise<string> {
  const [name = '', ...words] = command
  const program = ownProgram([name, '--tag', tag, ...words])
  const log = newLog(home, tag)
  const output = openSync(log, 'a', 0o600)
  if (start !== undefined) underWay.set(start, log)
  const forget = writeStart(home, tag, notes)
  const child = spawn(program.command, program.args, {
    cwd: directory,
    env: { ...env, ...leanEnvironment(env, home), AFIELD_HOME: home, AFIELD_SERVER: server },
    stdio: ['ignore', output, output],
    detached: true,
    windowsHide: true
  })
  closeSync(output)
  child.unref()
  if (child.pid !== undefined) child.once('exit', lease(child.pid, { of: 'session', title, folder: directory }, home))
  const ending = new AbortController()
  child.once('error', error => ending.abort(new Error(`The session could not be started: ${error.message}`)))
  child.once('exit', () => ending.abort(new Error(lastWords(log) || 'The session ended before it started, without output.')))
  try {
    return await withDeadline(startWithinMs, signal => opened(home, child.pid, signal), { signal: ending.signal })
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    throw new Error(`The session has not started within ${startWithinMs / 1000} s, but still may. ${lastWords(log)}`.trimEnd())
  } finally {
    forget()
    if (start !== undefined) underWay.delete(start)
  }
}

/** The logs of starts in progress, by the devices' names for them. */
const underWay = new Map<string, string>()

/** The last lines of a start in progress; none for any other. */
export function startLines(start: string, count: number): string[] {
  const log = underWay.get(start)
  const lines = log === undefined ? [] : readFileSync(log, 'utf8').split('\n').map(plain)
  return lines.filter(line => line !== '').slice(-count)
}

/** The session of this process, as soon as the server knows it and it says that it runs in this process. */
export function opened(home: string, pid: number | undefined, signal: AbortSignal, options?: WatchOptions): Promise<string> {
  return untilFound(
    watch => {
      watch(sessionsIn(home))
      const path = findOwned(home, pid)
      if (path === undefined) return undefined
      watch(path)
      // One that is taken over, or returned by a process whose agent did not start, is briefly in the
      // state of an earlier process.
      const { id, metadata } = readNotes(path) ?? {}
      return metadata?.hostPid === pid ? id : undefined
    },
    signal,
    options
  )
}

export function logsIn(home: string): string {
  const logs = join(home, 'logs')
  makePrivateFolder(logs)
  return logs
}

/** Where a session that starts now writes its output. Those that nothing was written to for a month are removed. */
export function newLog(home: string, tag: string): string {
  const logs = logsIn(home)
  const since = Date.now() - logKeptMs
  for (const name of readdirSync(logs)) {
    if ((statSync(join(logs, name), { throwIfNoEntry: false })?.mtimeMs ?? since) < since) rmSync(join(logs, name), { force: true })
  }
  return join(logs, `${tag}.log`)
}

function lastWords(log: string): string {
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .map(plain)
    // Without progress lines and the code location of the error.
    .filter(line => line !== '' && !line.endsWith(' …') && !/^\s*at /.test(line))
  return lines.slice(-5).join('\n')
}
