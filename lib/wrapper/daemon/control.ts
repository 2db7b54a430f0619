import { join } from 'node:path'
import { CannotStart, exitCodes } from '../../exit.ts'
import { hasLocalSockets } from '../../local-socket/address.ts'
import { askLocal } from '../../local-socket/ask.ts'
import { type LocalSocket, openLocalSocket } from '../../local-socket/open.ts'
import * as v from '../../schema.ts'
import { daemonNotes } from './single-daemon.ts'

/** Commands that the owner of this computer can send to its daemon. */
const replies = {
  status: daemonNotes,
  /** The running sessions; `id` is the server's, once it knows the session. */
  list: v.array(v.object({ id: v.optional(v.string()), pid: v.int(), folder: v.string() })),
  stop: v.object({})
} as const

type Replies = { [Name in keyof typeof replies]: v.InferOutput<(typeof replies)[Name]> }
/** `answered` resolves once the reply was sent. */
type DaemonAnswers = { [Name in keyof Replies]: (answered: Promise<void>) => Replies[Name] }

/**
 * Answers on `daemon/control.sock` in the wrapper's home, for its owner alone [W7]; undefined if there can
 * be no such socket.
 */
export async function openDaemonControl(
  home: string,
  answers: DaemonAnswers,
  tell: (line: string) => void
): Promise<LocalSocket | undefined> {
  if (!hasLocalSockets) return undefined
  const wentWrong = (error: unknown) => tell(`control socket: ${error instanceof Error ? error.message : String(error)}`)
  try {
    return await openLocalSocket({
      ...placeIn(home),
      answer: async (name, _question, _tell, answered) => answers[known(name)](answered),
      refusalOf(error) {
        if (error instanceof CannotStart) return { says: error.message, exitCode: error.exitCode }
        wentWrong(error)
        return { says: 'The daemon hit an unexpected error; see its log.', exitCode: exitCodes.bug }
      },
      onError: wentWrong
    })
  } catch (error) {
    wentWrong(error)
    return undefined
  }
}

/** Undefined if no daemon answers there. */
export async function askDaemon<Name extends keyof Replies>(home: string, name: Name): Promise<Replies[Name] | undefined> {
  const asked = await askLocal({ ...placeIn(home), name, question: {} })
  if (!asked) return undefined
  const reply = v.safeParse(replies[name], asked.reply)
  if (!reply.success) throw new CannotStart('The version of the daemon differs from this program; restart it.')
  // The row of this name made it.
  return reply.data as Replies[Name]
}

function placeIn(home: string) {
  return { directory: join(home, 'daemon'), file: 'control.sock' }
}

function known(name: string): keyof Replies {
  if (Object.hasOwn(replies, name)) return name as keyof Replies
  throw new CannotStart('The daemon does not know this command; its version may differ from this program.')
}
