import { Refused } from '../../client/link/refusals.ts'
import { createRest, type Rest } from '../../client/link/rest.ts'
import { cryptoReady } from '../../crypto/ready.ts'
import { CannotStart } from '../../exit.ts'
import { endDaemon, startsByItself } from '../daemon/commands.ts'
import { endSessions } from '../daemon/processes.ts'
import { findDaemon } from '../daemon/single-daemon.ts'
import { chooseServer, deviceToken, type Home } from '../home/credentials.ts'
import { typed } from '../home/own-process.ts'
import { type KnownSession, listOpenSessions } from '../home/session-folder.ts'
import { recoverSessions } from '../session/recovery.ts'
import { drawSessions, numbered } from '../terminal/session-list.ts'
import { styleFor } from '../terminal/style.ts'
import { type Terminal, tell } from '../terminal/terminal.ts'
import { fetch } from '../uplink/network.ts'

interface LogoutOptions {
  home: Home
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  /** The person agreed on the command line that running sessions end. */
  isSure: boolean
}

/**
 * Ends the link of this computer: its sessions, which nobody could see or end without it, its daemon, its entry and its token on the
 * server, and its keys here. Resolves to the exit code.
 */
export async function logout(options: LogoutOptions): Promise<number> {
  const { home, env, terminal } = options
  if (!options.server && !env['AFIELD_SERVER'] && !home.server) {
    throw new CannotStart('This computer is not linked to an account.', 1)
  }
  const server = chooseServer(options.server, env, home)
  const credentials = home.credentials(server)
  if (!credentials) throw new CannotStart(`This computer is not linked to an account on ${server}.`, 1)
  const running = runningOn(home, server)
  if (running.length > 0 && !(await mayEnd(running, options))) {
    tell(terminal, 'Nothing was changed.')
    return 1
  }
  await cryptoReady()
  // Before the sessions, which it would resume.
  if (findDaemon(home.path)?.server === server) await endDaemon(home.path)
  await endSessions(runningOn(home, server))
  await deliverRest(home, server, terminal)
  // An old token is renewed with a signature, and only then ended.
  const rest = createRest({ server, token: deviceToken({ home, credentials, fetch }), fetch })
  const isTold = await unlinkThere(rest, home.machineId)
  home.forgetCredentials(server)
  tell(terminal, `This computer is no longer linked to your account on ${server}; its keys were deleted here.`)
  if (startsByItself(env, server))
    tell(terminal, `Its daemon would still start when you sign in. Undo that with:\n  ${typed('daemon uninstall')}`)
  if (!isTold) throw new CannotStart('The server could not be notified. Unlink this computer in the app, under Computers.', 1)
  return 0
}

function runningOn({ path }: Home, server: string): KnownSession[] {
  return listOpenSessions(path).filter(({ pid, notes }) => pid !== undefined && pid !== process.pid && notes.server === server)
}

async function mayEnd(running: readonly KnownSession[], { terminal, env, server, isSure }: LogoutOptions): Promise<boolean> {
  const [which, them] = running.length === 1 ? ['A session is', 'it'] : [`${running.length} sessions are`, 'them']
  const list = drawSessions(numbered(running), Date.now(), styleFor(terminal, env), terminal.columns)
  terminal.write(`${which} still running here, and logging out ends ${them}:\n${list.join('\n')}\n`)
  if (isSure) return true
  const answer = await terminal.ask(`End ${them} and unlink this computer? [y/N] `)
  if (answer !== undefined) return /^y/i.test(answer.trim())
  // Nobody is there to answer.
  const again = typed(`logout${server ? ` --server ${server}` : ''} --yes`)
  throw new CannotStart(`Nothing was changed. To end ${them} and unlink this computer, run:\n  ${again}`, 1)
}

const deliverWithinMs = 10_000

/** What sessions that ended without a connection, or were killed, have not told: without the keys nobody could deliver it later. */
async function deliverRest(home: Home, server: string, terminal: Terminal): Promise<void> {
  const signal = AbortSignal.timeout(deliverWithinMs)
  const { found, delivered } = await recoverSessions({ home, fetch, server, withinMs: deliverWithinMs, signal })
  if (delivered < found) tell(terminal, `Some messages could not be delivered; they stay in ${home.path}.`)
}

/** The entry first, while the token is valid. True if the server has ended both, or had done so before. */
async function unlinkThere(rest: Pick<Rest, 'call'>, id: string): Promise<boolean> {
  try {
    await rest.call('removeMachine', { params: { id } }).catch(error => {
      if (!(error instanceof Refused && error.status === 404)) throw error
    })
    await rest.call('removeDevice', { params: { id: 'current' } })
    return true
  } catch (error) {
    // Its sign-in was already ended in the app.
    return error instanceof Refused && error.status === 401
  }
}
