import { mayRetry, Refused, Unreachable } from '../client/refusals.ts'
import type { Rest } from '../client/rest.ts'
import type { SealingKey } from '../client/vault.ts'
import type { Cipher } from '../crypto/envelopes.ts'
import { type AgentState, agentState, type SessionMetadata, sessionMetadata } from '../protocol/sealed/session.ts'
import type { SessionRecord } from '../protocol/wire/records.ts'
import type { Credentials, Home } from './credentials.ts'
import { registerMachine } from './machine.ts'

/** Opens the session on the server, or finds it there; `other-key` when what the server has of it does not open with its key. */
export async function openOnServer(
  to: { rest: Rest; home: Pick<Home, 'path' | 'machineId'>; credentials: Credentials },
  session: { tag: string; key: SealingKey; metadata: SessionMetadata; state: AgentState }
): Promise<SessionRecord | 'other-key'> {
  const { rest, home, credentials } = to
  // Each session does so, as those of existing wrappers do: the app shows where it runs.
  await registerMachine(rest, home, credentials.keys).catch(keepTrying)
  const { tag, metadata, state } = session
  const { cipher, wrapped } = session.key
  const body = { tag, metadata: cipher.seal(metadata), agentState: cipher.seal(state), dataEncryptionKey: wrapped }
  const { session: record } = await rest.call('openSession', { body }).catch(keepTrying)
  return canRead(record, cipher) ? record : 'other-key'
}

/** What was sealed with another key must not be mixed with what this one seals. */
function canRead({ metadata, agentState: state }: SessionRecord, cipher: Cipher): boolean {
  const isKnown = (sealed: string, schema: typeof sessionMetadata | typeof agentState) => {
    const opened = cipher.open(sealed)
    return opened.ok && schema.safeParse(opened.value).success
  }
  return isKnown(metadata, sessionMetadata) && (state === null || isKnown(state, agentState))
}

/** A refusal to open the session is no verdict on the messages that wait for it, unless the token is no longer good. */
function keepTrying(error: unknown): never {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error)) throw error
  throw new Unreachable('strange-answer', { cause: error })
}
