import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../assets.ts'
import type { Fetch } from '../../client/link/rest.ts'
import { lookForAgents } from '../daemon/computer/agents.ts'
import { askDaemon } from '../daemon/control.ts'
import { findService } from '../daemon/service.ts'
import { findDaemon } from '../daemon/single-daemon.ts'
import { chooseServer, type Home, openHome } from '../home/credentials.ts'
import { homePath, typed } from '../home/own-process.ts'
import { listLeases } from '../home/ownership.ts'
import { findDamaged, findLeftovers } from '../home/session-folder.ts'
import { readPolicy } from '../session/methods/policy.ts'
import { fetch } from '../uplink/network.ts'

type Env = Readonly<Record<string, string | undefined>>

/** One finding about this computer; `advice` only for problems. */
interface HealthFinding {
  of: string
  state: 'ok' | 'warn' | 'fail'
  says: string
  advice?: string
}

interface HealthOptions {
  home: Home
  env: Env
  fetch: Fetch
  now(): number
}

/** Undefined for a computer on which no agent was ever run with Afield. Nothing is written to it. */
export async function examineThisComputer(env: Env, now: () => number): Promise<HealthFinding[] | undefined> {
  const path = homePath(env)
  if (!existsSync(join(path, 'settings.json'))) return undefined
  return examineComputer({ home: openHome(env), env, fetch, now })
}

/** Everything that commonly goes wrong on a computer where agents work. */
export async function examineComputer({ home, env, fetch, now }: HealthOptions): Promise<HealthFinding[]> {
  const linked = link(home, env)
  const server = serverOf(home, env)
  return [
    folder(home.path),
    linked,
    ...(server === undefined ? [] : await reach(server, fetch, now)),
    await agents(env),
    await daemon(home.path),
    service(env),
    policy(home.path),
    waiting(home.path),
    leftOver(home.path)
  ]
}

const ok = (of: string, says: string): HealthFinding => ({ of, state: 'ok', says })
const warn = (of: string, says: string, advice: string): HealthFinding => ({ of, state: 'warn', says, advice })
const fail = (of: string, says: string, advice: string): HealthFinding => ({ of, state: 'fail', says, advice })

/** It holds keys: only its owner may read it. */
function folder(path: string): HealthFinding {
  const of = 'wrapper folder'
  if (process.platform === 'win32') return ok(of, path)
  const open = [path, ...readdirSync(path).map(name => join(path, name))].filter(file => {
    // Node.js's compile cache, which is not secret: nobody else may change it.
    const forbidden = file === join(path, 'compiled') ? 0o022 : 0o077
    return (statSync(file).mode & forbidden) !== 0
  })
  const [first] = open
  if (first === undefined) return ok(of, `${path}, private`)
  return fail(of, `other users can read ${open.length === 1 ? first : `${first} and ${open.length - 1} more`}`, `chmod -R go= ${path}`)
}

function link(home: Home, env: Env): HealthFinding {
  const of = 'link'
  const server = serverOf(home, env)
  // Which finds the server of this computer, or asks.
  if (server === undefined) return warn(of, 'this computer is not linked to an account', `Run: ${typed('login')}`)
  try {
    if (home.credentials(server)) return ok(of, `linked to an account on ${server}`)
  } catch (error) {
    return fail(of, error instanceof Error ? error.message : String(error), `Run: ${typed('login')}`)
  }
  return warn(of, `not linked to an account on ${server}`, `Run: ${typed(`login --server ${server}`)}`)
}

function serverOf(home: Home, env: Env): string | undefined {
  try {
    return chooseServer(undefined, env, home)
  } catch {
    return undefined
  }
}

const waitMs = 8_000
const mostSkewMs = 60_000

async function reach(server: string, fetch: Fetch, now: () => number): Promise<HealthFinding[]> {
  const of = 'home server'
  try {
    const answer = await fetch(`${server}/health`, { method: 'GET', headers: {}, signal: AbortSignal.timeout(waitMs) })
    // An answer left unread keeps its connection, and so the process, until the limit.
    await answer.text()
    const isOurs = answer.headers.get('content-type')?.includes('json')
    if (!isOurs) return [fail(of, `the server at ${server} is not an Afield server`, 'Check the address, and the reverse proxy')]
    const reached = answer.status === 200 ? ok(of, `${server} answers`) : fail(of, `${server} answers ${answer.status}`, 'See its log')
    return [reached, ...clock(answer.headers.get('date'), now())]
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : cause instanceof Error ? cause.name : 'unknown'
    return [
      fail(of, `${server} is not responding (${code})`, 'Check the network and that the server is running; unsent data is kept on disk')
    ]
  }
}

/** Logins and calls tolerate a wrong clock; certificates and displayed times do not. */
function clock(date: string | null, now: number): HealthFinding[] {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return []
  const skew = Math.round((now - theirs) / 1000)
  if (Math.abs(now - theirs) <= mostSkewMs) return [ok('clock here', 'matches the server’s clock')]
  const says = `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the server’s clock`
  return [warn('clock here', says, 'Synchronize it, for example with systemd-timesyncd')]
}

async function agents(env: Env): Promise<HealthFinding> {
  const of = 'agents'
  const { agents: found, missingAgents } = await lookForAgents(env)
  const real = found.filter(({ agent }) => agent !== 'demo')
  const [first] = missingAgents
  if (real.length === 0) return warn(of, 'none found in PATH', first === undefined ? 'Install one' : `For example: ${first.install}`)
  const out = real.filter(({ isSignedIn }) => isSignedIn === false)
  const says = real.map(({ title, version: theirs }) => (theirs === undefined ? title : `${title} ${theirs}`)).join(', ')
  if (out.length === 0) return ok(of, says)
  return warn(
    of,
    `${says}; not signed in: ${out.map(({ title }) => title).join(', ')}`,
    `Run: ${out.map(({ signIn }) => signIn).join(', ')}`
  )
}

async function daemon(home: string): Promise<HealthFinding> {
  const of = 'daemon'
  const notes = (await askDaemon(home, 'status').catch(() => undefined)) ?? findDaemon(home)
  if (!notes) return warn(of, 'not running: your phone cannot start or resume sessions here', `Run: ${typed('daemon start')}`)
  const runs = `process ${notes.pid}, version ${notes.version}, ${notes.link}`
  if (notes.version !== version())
    return warn(of, `${runs}; this is ${version()}`, `Run: ${typed('daemon stop')}, then ${typed('daemon start')}`)
  return notes.link === 'live' ? ok(of, runs) : warn(of, runs, `See: ${typed('daemon logs')}`)
}

function service(env: Env): HealthFinding {
  const of = 'service'
  try {
    const { file } = findService(env)
    if (existsSync(file)) return ok(of, `installed, ${file}`)
    return ok(of, `not installed; ${typed('daemon install')} starts the daemon whenever you sign in`)
  } catch {
    return ok(of, 'not available on this system')
  }
}

function policy(home: string): HealthFinding {
  const of = 'allowed folders'
  try {
    const { folders } = readPolicy(home)
    const gone = folders.filter(path => !existsSync(path))
    if (gone.length > 0) return warn(of, `${gone.join(', ')} does not exist`, `Run: ${typed(`allow --remove ${gone[0]}`)}`)
    return ok(of, folders.join(', ') || 'none: your phone cannot start sessions')
  } catch (error) {
    return fail(of, error instanceof Error ? error.message : String(error), `Fix ${join(home, 'policy.json')}, or remove it`)
  }
}

const muchBytes = 64 * 1024 * 1024

/** Messages not yet on the server. */
function waiting(home: string): HealthFinding {
  const of = 'undelivered'
  const sessions = join(home, 'sessions')
  const journals = existsSync(sessions) ? readdirSync(sessions).map(name => join(sessions, name, 'outbox.journal')) : []
  const bytes = journals.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
  const left = findLeftovers(home).length
  const says = `${(bytes / 1_000_000).toFixed(1)} MB of journals`
  const [damaged] = findDamaged(home)
  if (damaged !== undefined)
    return warn(of, `${says}; the notes of ${damaged} are damaged`, 'Its content cannot be delivered; inspect or remove it')
  if (left > 0)
    return warn(
      of,
      `${says}; ${left === 1 ? 'one session was' : `${left} sessions were`} killed before everything was delivered`,
      `Run: ${typed('flush')}`
    )
  if (bytes > muchBytes)
    return warn(of, says, 'Check whether the server can be reached; above 256 MB per session the least important data is dropped')
  return ok(of, bytes === 0 ? 'nothing is waiting' : says)
}

function leftOver(home: string): HealthFinding {
  const of = 'processes'
  const left = listLeases(home).filter(({ of: kind, owner }) => kind === 'agent' && owner === undefined)
  if (left.length === 0) return ok(of, 'none left over')
  const pids = left.map(({ title, pid }) => `${title} (${pid})`).join(', ')
  return warn(of, `left over from killed sessions: ${pids}`, 'The next session, or the daemon when it starts, ends them')
}
