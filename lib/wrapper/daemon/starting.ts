import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import { ownProgram } from '../own-program.ts'
import { makePrivateFolder } from '../private-files.ts'
import { listSessions } from '../session-folder.ts'
import { plain } from '../terminal/style.ts'

export interface StartSession {
  home: string
  server: string
  directory: string
  /** The command of this program and its arguments, such as `claude` or `resume <id>`. */
  command: readonly string[]
  mode?: string | null | undefined
  /** Everything the process gets. */
  env: Readonly<Record<string, string>>
}

/** A caller hears nothing after 30 s, and an agent may need most of it. */
const startWithinMs = 25_000

/**
 * Runs a session in a process of its own, which outlives this one, and resolves with the server's id of it. Rejects with
 * what the process said last when it ends before it has one.
 */
export async function startSession({ home, server, directory, command, mode, env }: StartSession): Promise<string> {
  const tag = randomUUID()
  const [name = '', ...words] = command
  const options = ['--tag', tag, ...(mode ? ['--mode', mode] : [])]
  const program = ownProgram([name, ...options, ...words])
  const log = join(logsIn(home), `${tag}.log`)
  const output = openSync(log, 'a', 0o600)
  const child = spawn(program.command, program.args, {
    cwd: directory,
    env: { ...env, AFIELD_HOME: home, AFIELD_SERVER: server },
    stdio: ['ignore', output, output],
    detached: true,
    windowsHide: true
  })
  closeSync(output)
  child.unref()
  const ended = new Promise<never>((_, reject) => {
    child.once('error', error => reject(new Error(`The session could not be started: ${error.message}`)))
    child.once('exit', () => reject(new Error(lastWords(log))))
  })
  return withDeadline(startWithinMs, signal => Promise.race([opened(home, child.pid, signal), ended]))
}

/** The session whose process this is, as soon as the server knows it. */
async function opened(home: string, pid: number | undefined, signal: AbortSignal): Promise<string> {
  for (;;) {
    const id = listSessions(home).find(session => session.pid === pid)?.notes.id
    if (id !== undefined) return id
    await pause(lookEveryMs, { signal })
  }
}

const lookEveryMs = 100

export function logsIn(home: string): string {
  const logs = join(home, 'logs')
  makePrivateFolder(logs)
  return logs
}

function lastWords(log: string): string {
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .map(plain)
    .filter(line => line !== '')
  return lines.slice(-5).join('\n') || 'The session ended before it began, without a word.'
}
