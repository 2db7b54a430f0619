import { CallFailed, callMachine } from '../../lib/client/index.ts'
import type { ResultOfMachineCall } from '../../lib/protocol/sealed/calls/machine-calls.ts'
import type { AgentHistory } from '../../lib/protocol/sealed/calls/machine-work.ts'
import type { Live } from './account/live.ts'
import { type Trouble, troubleOf } from './account/machine-call.ts'
import { pointFor, type Said } from './transcript/fork-point.ts'

type Link = Pick<Live, 'socket' | 'cipherOfMachine'>

/** The conversations stored by the agents of a machine, newest first; none if it does not report them. */
export async function readHistories(link: Link, machine: string, limit: number): Promise<readonly AgentHistory[]> {
  const cipher = link.cipherOfMachine(machine)
  if (!cipher) return []
  return callMachine(link.socket, cipher, machine, 'agent-histories', { limit }).then(
    ({ histories }) => histories,
    () => []
  )
}

/** Starts a session that continues a conversation of the agent; resolves to the session. */
export async function continueConversation(link: Link, machine: string, history: AgentHistory): Promise<string | Trouble> {
  try {
    const cipher = cipherOf(link, machine)
    const { agent, id, folder } = history
    const started = await callMachine(link.socket, cipher, machine, 'spawn-happy-session', { agent, directory: folder, conversation: id })
    return started.type === 'success' ? started.sessionId : { type: 'failed', why: 'failed', says: started.directory }
  } catch (error) {
    return troubleOf(error)
  }
}

/** Conversations of a machine that contain all the words. */
export async function searchHistories(
  link: Link,
  machine: string,
  words: string
): Promise<ResultOfMachineCall<'search-histories'> | Trouble> {
  try {
    return await callMachine(link.socket, cipherOf(link, machine), machine, 'search-histories', { words, limit: 30 })
  } catch (error) {
    return troubleOf(error)
  }
}

/** A fork of this session, in full or up to the end of the turn of one of its messages; resolves to its id. */
export async function forkSession(link: Link, machine: string, session: string, after?: Said): Promise<string | Trouble | 'not-there'> {
  try {
    const cipher = cipherOf(link, machine)
    const at = after && (await pointOf(link, machine, session, after))
    if (after !== undefined && at === undefined) return 'not-there'
    const fork = await callMachine(link.socket, cipher, machine, 'fork-session', { sessionId: session, ...(at !== undefined && { at }) })
    return fork.sessionId
  } catch (error) {
    return troubleOf(error)
  }
}

// The agent stores its conversation itself, under other ids, so messages are matched by their text.
async function pointOf(link: Link, machine: string, session: string, said: Said): Promise<string | undefined> {
  const { points } = await callMachine(link.socket, cipherOf(link, machine), machine, 'rewind-points', { sessionId: session })
  return pointFor(said, points)?.uuid
}

function cipherOf(link: Link, machine: string) {
  const cipher = link.cipherOfMachine(machine)
  if (!cipher) throw new CallFailed('unreadable', '')
  return cipher
}
