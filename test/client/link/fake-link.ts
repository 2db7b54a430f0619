import { Listeners } from '../../../lib/client/link/listeners.ts'
import type { LiveSocket, SocketState } from '../../../lib/client/link/socket.ts'
import type { Ephemeral } from '../../../lib/protocol/wire/ephemerals.ts'
import { localId, sealed, sessionId } from '../../../lib/protocol/wire/ids.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import type { Update, UpdateBody } from '../../../lib/protocol/wire/updates.ts'
import * as v from '../../../lib/schema.ts'

/** A connection that a test puts up and takes down, and whose frames it sends by hand. */
export class FakeLink implements Pick<LiveSocket, 'state' | 'onState' | 'onUpdate' | 'onEphemeral'> {
  state: SocketState = { type: 'connecting' }
  readonly #states = new Listeners<SocketState>()
  readonly #updates = new Listeners<Update>()
  readonly #ephemerals = new Listeners<Ephemeral>()

  onState(listener: (state: SocketState) => void) {
    return this.#states.add(listener)
  }
  onUpdate(listener: (update: Update) => void) {
    return this.#updates.add(listener)
  }
  onEphemeral(listener: (ephemeral: Ephemeral) => void) {
    return this.#ephemerals.add(listener)
  }

  up(): void {
    this.state = { type: 'live', connectionId: 'c1' }
    this.#states.tell(this.state)
  }
  down(): void {
    this.state = { type: 'down', reason: 'transport close', nextTryAt: 0 }
    this.#states.tell(this.state)
  }
  update(body: UpdateBody): void {
    this.#updates.tell({ id: 'u', seq: 1, body, createdAt: 1 })
  }
  message(message: MessageRecord, session = 's1'): void {
    this.update({ t: 'new-message', sid: v.parse(sessionId, session), message })
  }
  ephemeral(ephemeral: Ephemeral): void {
    this.#ephemerals.tell(ephemeral)
  }
}

export function messageAt(seq: number): MessageRecord {
  return {
    id: `m${seq}`,
    seq,
    localId: v.parse(localId, `l${seq}`),
    content: { t: 'encrypted', c: v.parse(sealed, 'aGk=') },
    createdAt: seq,
    updatedAt: seq
  }
}

/** Lets everything that is ready run: promises, however deep, but no timer. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
