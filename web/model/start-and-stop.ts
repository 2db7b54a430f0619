import { saidMode } from '../../lib/client/happy/modes.ts'
import { newUserText, sealDraft } from '../../lib/client/index.ts'
import type { ParamsOfMachineCall } from '../../lib/protocol/sealed/calls/machine-calls.ts'
import { deviceDb } from '../core/device-db.ts'
import { askMachine, type MachineLink, type Trouble } from './account/machine-call.ts'
import type { ServerLink } from './account/server-link.ts'
import { home } from './home.ts'
import { changeMetadata } from './session/metadata.ts'

export type Started = { type: 'started'; id: string } | { type: 'wants-folder'; folder: string } | Trouble

export interface AskedStart {
  readonly agent: string
  readonly folder: string
  readonly mode: string
  /** It will have Happy's wrapper: the mode is stored in the metadata and sent with the messages. */
  readonly keepsMode?: boolean
  /** The person has confirmed it. */
  readonly mayMakeFolder: boolean
  /** Works on a copy of the repository based on `base`, or on the folder's current commit; its branch is named after `about`. */
  readonly worktree?: { readonly base?: string; readonly about?: string } | undefined
  readonly model?: string | undefined
  readonly effort?: string | undefined
  /** One of the agent's own conversations to continue. */
  readonly conversation?: string | undefined
  /** Identifies this start when its log is requested. */
  readonly start?: string | undefined
}

/** Starts a session. */
export async function startSession(link: MachineLink, machine: string, asked: AskedStart): Promise<Started> {
  return started(link, machine, 'spawn-happy-session', {
    directory: asked.folder,
    agent: asked.agent,
    permissionMode: asked.mode,
    approvedNewDirectoryCreation: asked.mayMakeFolder,
    ...(asked.worktree && { worktree: asked.worktree }),
    ...(asked.model && { modelMode: asked.model }),
    ...(asked.effort && { effortLevel: asked.effort }),
    ...(asked.start && { start: asked.start }),
    ...(asked.conversation && { conversation: asked.conversation })
  })
}

export async function resumeSession(
  link: MachineLink & Pick<ServerLink, 'vault' | 'feed'>,
  machine: string,
  session: string
): Promise<Started> {
  const { reminderFor } = await import('../../lib/client/happy/reminder.ts')
  const { machines, sessions } = home.peek()
  const metadata = sessions.get(session)?.metadata
  const row = [...link.feed.sessions.values()].find(({ id }) => id === session)
  const reminder = machines.has(machine) && metadata && row ? reminderFor(link.vault, { ...row, metadata }, machine) : {}
  return started(link, machine, 'resume-happy-session', { sessionId: session, ...reminder })
}

/** True if the machine did so. */
export async function stopOnMachine(link: MachineLink, machine: string, session: string): Promise<boolean> {
  return (await askMachine(link, machine, 'stop-session', { sessionId: session })).type === 'answered'
}

export async function stopDaemon(link: MachineLink, machine: string): Promise<boolean> {
  return (await askMachine(link, machine, 'stop-daemon', {})).type === 'answered'
}

/**
 * Waits until a new session is known here, and sends its first message, if there is one: like any other, so it is stored here until the server has it. If the session does not
 * become known in time, the message waits in its composer.
 */
export async function sendFirstMessage(
  link: Pick<ServerLink, 'cipherOf' | 'outbox' | 'feed' | 'socket'>,
  session: string,
  text: string,
  asked?: AskedStart
): Promise<void> {
  await known(session)
  // A mode that cannot be stored is not sent either: then the agent asks.
  if (asked?.keepsMode) await changeMetadata(link, session, about => ({ ...about, permissionMode: asked.mode })).catch(() => {})
  if (text === '') return
  const cipher = link.cipherOf(session)
  const permissionMode = saidMode(home.peek().sessions.get(session)?.metadata ?? undefined)
  const meta = { sentFrom: 'web', ...(permissionMode !== undefined && { permissionMode }) }
  if (cipher) await link.outbox.put(sealDraft(cipher, session, newUserText(text, meta)))
  else await (await deviceDb()).write(`draft.${session}`, text)
}

const knownWithinMs = 8_000

/** Resolves when the session has arrived over the account feed, or will not arrive soon. */
async function known(session: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, knownWithinMs)
  const stop = home.subscribe(({ sessions }) => sessions.has(session) && resolve())
  await promise
  stop()
  clearTimeout(timer)
}

type StartCall = 'spawn-happy-session' | 'resume-happy-session'

async function started<Name extends StartCall>(
  link: MachineLink,
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>
): Promise<Started> {
  const answer = await askMachine(link, machine, call, params)
  if (answer.type === 'failed') return answer
  const { result } = answer
  if (result.type === 'success') return { type: 'started', id: result.sessionId }
  return { type: 'wants-folder', folder: result.directory }
}
