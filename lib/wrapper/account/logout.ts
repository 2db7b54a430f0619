import { Refused } from '../../client/link/refusals.ts'
import { createRest } from '../../client/link/rest.ts'
import { cryptoReady } from '../../crypto/ready.ts'
import { CannotStart } from '../../exit.ts'
import { chooseServer, deviceToken, type Home } from '../home/credentials.ts'
import { listOpenSessions } from '../home/session-folder.ts'
import { type Terminal, tell } from '../terminal/terminal.ts'
import { fetch } from '../uplink/network.ts'

/** Ends the link of this computer: its token on the server, its keys here. Resolves to the exit code. */
export async function logout(options: {
  home: Home
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
}): Promise<number> {
  const { home, terminal } = options
  if (!options.server && !options.env['AFIELD_SERVER'] && !home.server) {
    throw new CannotStart('This computer is not linked to an account.', 1)
  }
  const server = chooseServer(options.server, options.env, home)
  const credentials = home.credentials(server)
  if (!credentials) throw new CannotStart(`This computer is not linked to an account on ${server}.`, 1)
  const running = listOpenSessions(home.path).filter(({ pid, notes }) => pid !== undefined && notes.server === server).length
  if (running > 0) {
    const which =
      running === 1
        ? 'A session is still running here and will lose its connection.'
        : `${running} sessions are still running here and will lose their connection.`
    tell(terminal, `${which}\nNew messages there will stay on this computer.`)
    const answer = await terminal.ask('Unlink anyway? [y/N] ')
    // Undefined if nobody is there to answer.
    if (answer !== undefined && !/^y/i.test(answer.trim())) {
      terminal.write('Nothing was changed.\n')
      return 1
    }
  }
  // An old token is renewed with a signature, and only then ended.
  await cryptoReady()
  const rest = createRest({ server, token: deviceToken({ home, credentials, fetch }), fetch })
  const isRevoked = await rest.call('removeDevice', { params: { id: 'current' } }).then(
    () => true,
    // Its sign-in was already ended in the app.
    error => error instanceof Refused && error.status === 401
  )
  home.forgetCredentials(server)
  tell(terminal, `This computer is no longer linked to your account on ${server}; its keys were deleted here.`)
  if (!isRevoked) throw new CannotStart('The server could not be notified. Remove this computer in the app, under Devices.', 1)
  return 0
}
