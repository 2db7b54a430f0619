import { CallFailed, type CallFailure, callMachine, sealDraft, userText } from '../../lib/client/index.ts'
import type { ParamsOfMachineCall, ResultOfMachineCall } from '../../lib/protocol/sealed/machine-calls.ts'
import { deviceDb } from './device-db.ts'
import { home } from './home.ts'
import type { Live } from './live.ts'
import { sessionsOn } from './machines.ts'

type Link = Pick<Live, 'socket' | 'cipherOfMachine'>

/** What a new session on a machine can be made of. */
export type Choices = ResultOfMachineCall<'choices'>

export type Trouble = { readonly type: 'failed'; readonly why: CallFailure; readonly says: string }

export type KnownChoices = { type: 'choices'; choices: Choices } | Trouble

export type Started = { type: 'started'; id: string } | { type: 'wants-folder'; folder: string } | Trouble

/** Asks the helper of a machine. One of Happy's does not know the question: then it is what that one has, and what this account saw there. */
export async function readChoices(link: Link, machine: string): Promise<KnownChoices> {
  try {
    return { type: 'choices', choices: await callMachine(link.socket, cipherOf(link, machine), machine, 'choices', {}) }
  } catch (error) {
    const trouble = troubleOf(error)
    return trouble.why === 'away' ? { type: 'choices', choices: guessChoices(machine) } : trouble
  }
}

/** Begins a session. `mayMakeFolder`: the person has said so. */
export async function startSession(
  link: Link,
  machine: string,
  asked: { agent: string; folder: string; mode: string; mayMakeFolder: boolean }
): Promise<Started> {
  return started(link, machine, 'spawn-happy-session', {
    directory: asked.folder,
    agent: asked.agent,
    permissionMode: asked.mode,
    approvedNewDirectoryCreation: asked.mayMakeFolder
  })
}

export async function resumeSession(link: Link, machine: string, session: string): Promise<Started> {
  return started(link, machine, 'resume-happy-session', { sessionId: session })
}

/** True when the machine did it. */
export async function stopOnMachine(link: Link, machine: string, session: string): Promise<boolean> {
  return isDone(async () => callMachine(link.socket, cipherOf(link, machine), machine, 'stop-session', { sessionId: session }))
}

export async function stopHelper(link: Link, machine: string): Promise<boolean> {
  return isDone(async () => callMachine(link.socket, cipherOf(link, machine), machine, 'stop-daemon', {}))
}

/** The folders in a folder, by name, and the folder's own path as the machine writes it. */
export async function listFolders(link: Link, machine: string, path: string): Promise<{ path: string; folders: string[] } | Trouble> {
  try {
    const listed = await callMachine(link.socket, cipherOf(link, machine), machine, 'listDirectory', { path })
    if (!listed.success) return { type: 'failed', why: 'failed', says: listed.error }
    const folders = listed.entries.filter(({ type, name }) => type === 'directory' && !name.startsWith('.')).map(({ name }) => name)
    return { path: listed.path ?? path, folders: folders.sort((a, b) => a.localeCompare(b)) }
  } catch (error) {
    return troubleOf(error)
  }
}

/**
 * Waits for a new session to become known here, and tells its agent the first thing, if there is one: a message like any other, so that it is kept here until the server has it. When the session does not
 * become known in time it waits in its composer.
 */
export async function sayFirst(link: Pick<Live, 'cipherOf' | 'outbox'>, session: string, text: string): Promise<void> {
  await known(session)
  if (text === '') return
  const cipher = link.cipherOf(session)
  if (cipher) await link.outbox.put(sealDraft(cipher, session, userText(text, { sentFrom: 'web' })))
  else await (await deviceDb()).write(`draft.${session}`, text)
}

const knownWithinMs = 8_000

/** Resolves when the session has come over the account's feed, or will not come soon. */
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
  link: Link,
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>
): Promise<Started> {
  try {
    const result = await callMachine(link.socket, cipherOf(link, machine), machine, call, params)
    if (result.type === 'success') return { type: 'started', id: result.sessionId }
    return { type: 'wants-folder', folder: result.directory }
  } catch (error) {
    return troubleOf(error)
  }
}

async function isDone(work: () => Promise<unknown>): Promise<boolean> {
  return work().then(
    () => true,
    () => false
  )
}

function cipherOf(link: Link, machine: string) {
  const cipher = link.cipherOfMachine(machine)
  if (!cipher) throw new CallFailed('unreadable', '')
  return cipher
}

function troubleOf(error: unknown): Trouble {
  const { reason, message } = error instanceof CallFailed ? error : new CallFailed('unreadable', String(error))
  return { type: 'failed', why: reason, says: message }
}

function guessChoices(machine: string): Choices {
  const seen = sessionsOn({ id: machine }, home.peek()).flatMap(({ metadata }) => metadata?.path ?? [])
  return {
    agents: [
      { agent: 'claude', title: 'Claude Code' },
      { agent: 'codex', title: 'Codex' },
      { agent: 'gemini', title: 'Gemini' }
    ],
    recentFolders: [...new Set(seen)].slice(0, 12),
    home: home.peek().machines.get(machine)?.metadata?.homeDir ?? '~'
  }
}
