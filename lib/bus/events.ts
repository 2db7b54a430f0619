import { rpcMethod, rpcParams } from '../protocol/wire/events.ts'
import { type CallFailure, callFailures } from '../protocol/wire/failures.ts'
import * as ids from '../protocol/wire/ids.ts'
import { noticeKind, pushKind, ringKind } from '../protocol/wire/notifications.ts'
import { amounts, kvChange, tokenKind } from '../protocol/wire/records.ts'
import * as v from '../schema.ts'
import type { Audience, BusEvent, Change, Signal, StoredChange, Topic } from './bus.ts'

type Reads<Output> = v.GenericSchema<unknown, Output>
type Kinds<Union extends { type: string }> = { [Type in Union['type']]: Reads<Extract<Union, { type: Type }>> }

const unknownKind: Reads<never> = v.never('is of no known kind')

const { sessionId, machineId, artifactId, connectionId, sealed, seq, version } = ids
const session = v.object({ of: v.literal('session'), id: sessionId })
const machine = v.object({ of: v.literal('machine'), id: machineId })
const artifact = v.object({ of: v.literal('artifact'), id: artifactId })
const row = v.union([session, machine])
const audience: Reads<Audience> = v.union([v.literal('apps'), row])
const topic = v.string() as v.GenericSchema<string> as Reads<Topic>

const cell = v.object({ version, value: v.nullable(sealed) })
const sealedCell = v.object({ version, value: sealed })
const cellRef = v.union([
  v.object({ ...session.entries, name: v.picklist(['metadata', 'agentState']) }),
  v.object({ ...machine.entries, name: v.picklist(['metadata', 'daemonState']) }),
  v.object({ of: v.literal('account'), name: v.literal('settings') })
])
const times = { createdAt: v.number(), updatedAt: v.number() }
const life = { active: v.boolean(), activeAt: v.number(), ...times }
const sessionRow = v.object({
  ...{ id: sessionId, metadata: cell, agentState: cell, dataKey: v.nullable(sealed) },
  ...{ lastSeq: seq, deliveredSeq: seq, readSeq: seq, ...life }
})
const machineRow = v.object({ id: machineId, metadata: cell, daemonState: cell, dataKey: v.nullable(sealed), ...life })
const artifactRow = v.object({ id: artifactId, header: sealedCell, body: sealedCell, dataKey: sealed, seq: v.int(), ...times })
const message = v.object({ seq, localId: v.nullable(ids.localId), sealed, createdAt: v.number() })

const changes: Kinds<Change> = {
  'session-opened': kind('session-opened', { session: sessionRow }),
  'machine-opened': kind('machine-opened', { machine: machineRow }),
  'row-removed': kind('row-removed', { row: v.union([session, machine, artifact]), by: v.exactOptional(v.nullable(ids.deviceId)) }),
  'artifact-opened': kind('artifact-opened', { artifact: artifactRow }),
  'artifact-written': kind('artifact-written', { id: artifactId, header: v.exactOptional(sealedCell), body: v.exactOptional(sealedCell) }),
  'kv-written': kind('kv-written', { changes: v.array(kvChange) }),
  'cell-written': kind('cell-written', { cell: cellRef, now: cell }),
  'messages-added': kind('messages-added', { session: sessionId, messages: v.array(message) }),
  'receipts-marked': kind('receipts-marked', { session: sessionId, deliveredSeq: seq, readSeq: seq })
}

const storedChanges: Kinds<StoredChange> = {
  'session-opened': kind('session-opened', { session: sessionId }),
  'machine-opened': kind('machine-opened', { machine: machineId }),
  'artifact-opened': kind('artifact-opened', { artifact: artifactId }),
  'artifact-written': kind('artifact-written', { artifact: artifactId, parts: v.array(v.picklist(['header', 'body'])) }),
  'kv-written': kind('kv-written', { keys: v.array(v.object({ key: ids.kvKey, version })) }),
  'cell-written': kind('cell-written', { cell: cellRef }),
  'messages-added': kind('messages-added', { session: sessionId, first: seq, last: seq })
}

const at = v.number()
const signals: Kinds<Signal> = {
  presence: kind('presence', { row, active: v.boolean(), at, thinking: v.boolean() }),
  usage: kind('usage', { session: sessionId, key: v.string(), at, tokens: amounts, cost: amounts }),
  'session-event': kind('session-event', { session: sessionId, kind: pushKind, title: v.string(), body: v.string(), at }),
  notice: kind('notice', { session: sessionId, notice: v.string(), kind: v.union([noticeKind, ringKind]), at }),
  partial: kind('partial', { session: sessionId, partial: sealed }),
  'device-came': kind('device-came', { device: ids.deviceId, kind: tokenKind, name: v.string(), at }),
  'pairing-fetched-twice': kind('pairing-fetched-twice', { at })
}

const to = { audience, skip: v.optional(connectionId) }
const changed = { clock: v.int(), at, ...to }
const id = v.string()
const why = v.picklist(Object.keys(callFailures) as CallFailure[])
const result = v.variant('ok', [v.object({ ok: v.literal(true), value: sealed }), v.object({ ok: v.literal(false), why })])

const events: Kinds<BusEvent> = {
  change: kind('change', { ...changed, change: oneOf(changes) }),
  'large-change': kind('large-change', { ...changed, stored: oneOf(storedChanges) }),
  signal: kind('signal', { ...to, signal: oneOf(signals) }),
  'token-revoked': kind('token-revoked', { token: ids.tokenId }),
  'callee-here': kind('callee-here', { method: rpcMethod, connection: connectionId, stamp: v.int(), heldForMs: v.number() }),
  call: kind('call', {
    ...{ id, replyTo: topic, from: v.optional(connectionId), by: v.optional(ids.deviceId) },
    ...{ method: rpcMethod, params: rpcParams }
  }),
  'call-taken': kind('call-taken', { id, instance: v.string() }),
  'call-dropped': kind('call-dropped', { id }),
  'call-answered': kind('call-answered', { id, result }),
  'present-asked': kind('present-asked', { id, replyTo: topic, of: v.union([v.literal('watching-app'), row]) }),
  present: kind('present', { id }),
  'instance-asked': kind('instance-asked', { replyTo: topic }),
  'instance-here': kind('instance-here', { instance: v.string() }),
  'limits-used': kind('limits-used', {
    ...{ instance: v.string(), at },
    uses: v.array(v.object({ limit: v.string(), key: v.string(), ms: v.number() }))
  }),
  'seats-held': kind('seats-held', {
    instance: v.string(),
    seats: v.array(v.object({ account: ids.accountId, sockets: v.int() }))
  }),
  'seats-asked': kind('seats-asked', { instance: v.string(), accounts: v.array(ids.accountId) }),
  'setup-code-wrong': kind('setup-code-wrong', { instance: v.string(), at, isLast: v.boolean() })
}

/**
 * Reads an event that came from another process, as a driver must: one of another version of the server may send kinds and
 * values that this one does not know. Fields that are `undefined` may be missing.
 */
export const busEvent: Reads<BusEvent> = oneOf(events)

function kind<const Type extends string, const Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return v.object({ type: v.literal(type), ...entries })
}

function oneOf<Union extends { type: string }>(kinds: Kinds<Union>): Reads<Union> {
  const byType: Record<string, Reads<Union> | undefined> = kinds
  return v.lazy(value => (typeof value === 'object' && value !== null && 'type' in value && own(byType, value.type)) || unknownKind)
}

function own<Value>(record: Record<string, Value>, key: unknown): Value | undefined {
  return typeof key === 'string' && Object.hasOwn(record, key) ? record[key] : undefined
}
