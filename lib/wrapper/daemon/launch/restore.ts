import { randomUUID } from 'node:crypto'
import { withDeadline } from '../../../async/deadline.ts'
import type { Rest } from '../../../client/link/rest.ts'
import type { SessionMetadata } from '../../../protocol/sealed/session.ts'
import { type SessionReminder, sessionReminder } from '../../../protocol/sealed/session-reminder.ts'
import type { SessionRecord } from '../../../protocol/wire/records.ts'
import * as v from '../../../schema.ts'
import type { Credentials, Home } from '../../home/credentials.ts'
import { createSessionFolder, listSessions } from '../../home/session-folder.ts'
import type { AgentProgram } from '../../home/session-notes.ts'
import { isFolder } from '../../session/methods/folders.ts'
import { findOnServer, openSessionKey, readSession } from '../../uplink/open.ts'
import { knownAgents } from '../computer/agents.ts'
import { allowedFolders } from '../computer/folders.ts'

interface RestoreDeps {
  home: Pick<Home, 'path' | 'machineId'>
  credentials: Credentials
  rest: Rest
}

/** A caller times out after 30 s, and the session has to start within them too. */
const askWithinMs = 5_000

/**
 * Recreates a session that this computer no longer knows as an ended one, from what an app remembers. The
 * server's data must decrypt with the given key. Throws, with a sentence for the phone; a known session is
 * not changed.
 */
export async function restoreSession({ home, credentials, rest }: RestoreDeps, id: string, params: unknown): Promise<void> {
  const reminder = read(params)
  const { encryptionKey: key } = reminder
  refuseOthers(home, reminder.metadata)
  const program = programOf(reminder.metadata)
  const agentSessionId = conversationOf(program, reminder.metadata)
  const path = allowedFolders(home.path).check(reminder.metadata.path)
  if (!isFolder(path)) throw new Error(`The folder ${path} no longer exists.`)
  const row = await withDeadline(askWithinMs, signal => findOnServer(rest, id, signal))
  if (!row) throw new Error('The server does not know the session.')
  const metadata = readSession(row, openSessionKey(credentials, key).cipher)
  if (!metadata) throw new Error('The session is encrypted with another key.')
  refuseOthers(home, metadata)
  // A process must not continue the session of another one whose folder is gone here.
  if (row.active) throw new Error('The session may still be running. Try again in a few minutes.')
  // Nothing is awaited from here on: it stays unknown until it is written.
  if (listSessions(home.path).some(({ notes }) => notes.id === id)) return
  createSessionFolder(home.path, {
    tag: randomUUID(),
    isUntagged: true,
    id,
    server: credentials.server,
    program,
    key,
    metadata: { ...reminder.metadata, path, agentSessionId },
    cursor: cursorOf(row, metadata, reminder),
    turn: null
  }).retire()
}

function read(params: unknown): SessionReminder {
  const { data, problem } = v.safeParse(sessionReminder, params)
  if (data) return data
  throw new Error(`The app’s data about this session is invalid: ${new v.Misfit(problem).message}`)
}

function refuseOthers({ machineId }: RestoreDeps['home'], metadata: SessionMetadata): void {
  if (metadata.machineId !== machineId) throw new Error('This session belongs to another computer.')
}

/**
 * If a session belonged to a daemon of ours, the server knows how far its agent has read: later messages
 * are answered, even if sent before the app's request. Otherwise everything the app knows counts as
 * answered; its number may be higher than that of any message, after which nothing would ever be read.
 */
function cursorOf({ seq, readSeq }: SessionRecord, { methods }: SessionMetadata, reminder: SessionReminder): number {
  return methods && readSeq !== undefined ? readSeq : Math.min(reminder.seq, seq)
}

/** Which agent it is, by names alone: no command comes from a phone. */
function programOf({ flavor, agentTitle }: SessionMetadata): AgentProgram {
  const name = flavor || 'claude'
  const known = knownAgents.find(agent => (name === 'acp' ? agent.title === agentTitle : agent.name === name))
  if (!known) throw new Error(`This computer has no agent called ${(name === 'acp' && agentTitle) || name}.`)
  const [kind, , command = '', ...args] = known.command
  switch (kind) {
    case 'claude':
    case 'codex':
    case 'opencode':
    case 'demo':
      return { kind }
    default:
      return { kind: 'acp', command, args }
  }
}

function conversationOf({ kind }: AgentProgram, { agentSessionId, claudeSessionId, codexThreadId }: SessionMetadata): string {
  const own = (kind === 'claude' && claudeSessionId) || (kind === 'codex' && codexThreadId) || undefined
  const id = agentSessionId || own
  if (!id) throw new Error('The agent’s conversation for this session is unknown.')
  return id
}
