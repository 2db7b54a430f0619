import { CannotStart } from '../../exit.ts'
import { hasLocalSockets } from '../../local-socket/address.ts'
import { type LocalSocket, openLocalSocket } from '../../local-socket/open.ts'
import { type Logger, noteOf } from '../watch/log.ts'
import type { ControlDeps } from './command.ts'
import { isCommand } from './commands.ts'
import { runCommand, sentenceOf } from './run.ts'

type Control = LocalSocket

interface ControlSocketDeps extends ControlDeps {
  log: Logger
  /** Called once for every unexpected error. */
  onError: (error: unknown) => void
}

/** In the data directory. */
export const controlFile = 'control.sock'

/**
 * Answers `POST /<command>` on `control.sock` in the data directory. Servers with their own stores may
 * share a directory; then the first holds the socket. If none can be created, the server runs without it
 * and logs that.
 */
export async function openControl(deps: ControlSocketDeps): Promise<Control> {
  if (!hasLocalSockets) return nothing
  try {
    return await openLocalSocket({
      directory: deps.options.data,
      file: controlFile,
      answer: (name, question, tell) => runCommand(deps, commandOf(name), question, tell),
      refusalOf(error) {
        const sentence = sentenceOf(error)
        if (!sentence) deps.onError(error)
        return sentence ?? { says: 'The server hit an unexpected error; see its log.', exitCode: 70 }
      },
      onError: deps.onError
    })
  } catch (error) {
    deps.log.warn({ error: noteOf(error) }, 'No control socket: commands need the server to be stopped')
    return nothing
  }
}

const nothing: Control = { close: async () => {} }

function commandOf(name: string) {
  if (isCommand(name)) return name
  throw new CannotStart('The running server does not know this command; its version may differ from this program.')
}
