import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import { cryptoReady } from '../../crypto/ready.ts'
import { CannotStart, exitCodes } from '../../exit.ts'
import { type Credentials, chooseServer, type Home, needCredentials } from '../home/credentials.ts'
import { ownProgram, typed } from '../home/own-process.ts'
import { listOpenSessions } from '../home/session-folder.ts'
import { ago } from '../terminal/session-list.ts'
import { plain, styleFor, wrapped } from '../terminal/style.ts'
import { note, type Terminal, tell } from '../terminal/terminal.ts'
import { fetch } from '../uplink/network.ts'
import { askDaemon } from './control.ts'
import { startDaemon } from './daemon.ts'
import { setAwake } from './keep-awake.ts'
import { findService } from './service.ts'
import { type DaemonNotes, findDaemon } from './single-daemon.ts'
import { appendToLog, lastLines, lastOf, logFile } from './upkeep.ts'

interface DaemonCommand {
  home: Home
  /** As given on the command line. */
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  lines: number
  follow: boolean
  /** Whether to keep the computer from sleeping while a session works; unchanged if omitted. */
  keepAwake?: boolean | undefined
}

/** Each resolves to the exit code. */
export async function startInBackground(options: DaemonCommand): Promise<number> {
  const { home, env, terminal, keepAwake } = options
  if (keepAwake !== undefined) setAwake(home.path, keepAwake)
  const running = findDaemon(home.path)
  if (running) {
    tell(terminal, `The daemon is already running, as process ${running.pid}.`)
    return 0
  }
  credentialsFor(options)
  // It writes its own lines there itself; this is for errors that end it silently.
  const log = openSync(logFile(home.path), 'a', 0o600)
  const { command, args } = ownProgram(['daemon', 'run', ...(options.server ? ['--server', options.server] : [])])
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    env: { ...env, AFIELD_HOME: home.path },
    windowsHide: true
  })
  closeSync(log)
  child.unref()
  const ending = new AbortController()
  child.once('exit', () =>
    ending.abort(new CannotStart(`The daemon did not start. Its last output:\n${lastLines(home.path, 5).join('\n')}`))
  )
  const daemon = await withDeadline(startWithinMs, signal => appeared(home, signal), { signal: ending.signal })
  tell(terminal, `The daemon is running, as process ${daemon.pid}: your phone can start and resume sessions here.`)
  return 0
}

export async function stopDaemon({ home, terminal }: DaemonCommand): Promise<number> {
  const running = findDaemon(home.path)
  if (!running) {
    tell(terminal, 'The daemon is not running.')
    return 0
  }
  await endDaemon(home.path)
  tell(terminal, 'The daemon has stopped. Sessions continue.')
  return 0
}

/** Resolves when it has ended; at once if there is none. */
export async function endDaemon(home: string): Promise<void> {
  const running = findDaemon(home)
  if (!running) return
  if (!(await askDaemon(home, 'stop'))) process.kill(running.pid, 'SIGTERM')
  await withDeadline(stopWithinMs, async signal => {
    while (findDaemon(home)) await pause(lookEveryMs, { signal })
  })
}

/** Exits with 3 if it is not running, like service commands. */
export async function showDaemon({ home, terminal, env }: DaemonCommand): Promise<number> {
  const style = styleFor(terminal, env)
  const daemon = (await askDaemon(home.path, 'status')) ?? findDaemon(home.path)
  if (!daemon) {
    tell(terminal, `The daemon is not running. Start it with:\n  ${typed('daemon start')}`)
    return 3
  }
  const running = ((await askDaemon(home.path, 'list')) ?? listOpenSessions(home.path).filter(({ pid }) => pid !== undefined)).length
  const look = daemon.link === 'live' ? style.good : style.needs
  const rows: [label: string, text: string, look?: (text: string) => string][] = [
    ['Daemon', `process ${daemon.pid}, version ${daemon.version}, started ${ago(Date.now() - daemon.startedAt)}`],
    ['Server', daemon.server],
    ['Link', daemon.link, look],
    ['Sessions', running === 0 ? 'none running' : `${running} running`],
    ['Log', logFile(home.path)]
  ]
  const lines = rows.flatMap(([label, text, look = (text: string) => text]) =>
    wrapped(plain(text), terminal.columns - 12).map((line, index) => `  ${style.dim((index === 0 ? label : '').padEnd(10))}${look(line)}`)
  )
  terminal.write(`${lines.join('\n')}\n`)
  return 0
}

export async function showLog({ home, terminal, lines, follow }: DaemonCommand): Promise<number> {
  if (!existsSync(logFile(home.path))) {
    note('The daemon has not logged anything yet.')
    return 0
  }
  const log = readFileSync(logFile(home.path))
  terminal.write(`${lastOf(log.toString(), lines).join('\n')}\n`)
  if (!follow) return 0
  let shown = log.length
  for (;;) {
    await pause(followEveryMs)
    const text = readLog(home.path)
    if (text.length < shown) shown = 0
    terminal.write(text.subarray(shown).toString())
    shown = text.length
  }
}

function readLog(home: string): Buffer {
  try {
    return readFileSync(logFile(home))
  } catch (error) {
    // One that became too long was moved aside, and the next line begins another.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

export async function installDaemon(options: DaemonCommand): Promise<number> {
  const { home, env, terminal, keepAwake } = options
  const { server } = credentialsFor(options)
  if (keepAwake !== undefined) setAwake(home.path, keepAwake)
  const service = findService(env)
  service.refuseIfUnable(`Start the daemon yourself with:\n  ${typed('daemon start')}`)
  // There is one daemon per home; from now on it is the service's.
  if (findDaemon(home.path)) await stopDaemon(options)
  service.install({ home: home.path, server })
  tell(
    terminal,
    `The daemon is running now and starts whenever you sign in, as set in ${service.file}. Undo this with:\n  ${typed('daemon uninstall')}`
  )
  return 0
}

export async function uninstallDaemon({ env, terminal }: DaemonCommand): Promise<number> {
  const service = findService(env)
  if (!existsSync(service.file)) {
    tell(terminal, 'The daemon is not installed: it does not start automatically.')
    return 0
  }
  service.refuseIfUnable(`Remove it yourself with:\n  rm ${service.file}`)
  service.uninstall()
  tell(terminal, 'The daemon no longer starts automatically.')
  return 0
}

/** Whether the system starts the daemon for this server whenever the person signs in. */
export function startsByItself(env: DaemonCommand['env'], server: string): boolean {
  try {
    return readFileSync(findService(env).file, 'utf8').includes(server)
  } catch {
    // Not installed, or not possible on this system.
    return false
  }
}

/** In the foreground, for services. */
export async function runDaemon(options: DaemonCommand): Promise<number> {
  const { home, env, keepAwake } = options
  const credentials = credentialsFor(options)
  if (keepAwake !== undefined) setAwake(home.path, keepAwake)
  await cryptoReady()
  const addLine = (line: string) => {
    const dated = `${new Date().toISOString()} ${plain(line)}`
    console.log(dated)
    appendToLog(home.path, dated)
  }
  const daemon = startDaemon({ home, credentials, env, fetch, tell: addLine })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => daemon.stop())
  addLine(`started, process ${process.pid}, ${credentials.server}`)
  if ((await daemon.ended) === 'stopped') return 0
  // Its service restarts it after a failure; nothing else would.
  if (env['AFIELD_SERVICE']) return exitCodes.storage
  startAgain(options)
  return 0
}

function startAgain({ home, server, env }: DaemonCommand): void {
  const { command, args } = ownProgram(['daemon', 'run', ...(server ? ['--server', server] : [])])
  const next = spawn(command, args, { detached: true, stdio: 'inherit', env: { ...env, AFIELD_HOME: home.path }, windowsHide: true })
  next.unref()
}

const startWithinMs = 15_000
const stopWithinMs = 15_000
const lookEveryMs = 50
const followEveryMs = 500

async function appeared(home: Home, signal: AbortSignal): Promise<DaemonNotes> {
  for (;;) {
    const daemon = findDaemon(home.path)
    if (daemon) return daemon
    await pause(lookEveryMs, { signal })
  }
}

function credentialsFor({ home, server, env }: DaemonCommand): Credentials {
  return needCredentials(home, chooseServer(server, env, home))
}
