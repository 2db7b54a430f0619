import * as v from '../../schema.ts'
import { watchedForMs } from './handshake.ts'
import {
  artifactId,
  deviceId,
  localId,
  machineId,
  plainText,
  sealed,
  sealedMetadata,
  sealedState,
  sessionId,
  time,
  version
} from './ids.ts'
import { accessKeyRecord, amounts, artifactRecord } from './records.ts'
import { artifactDraft } from './routes/artifacts.ts'
import type { Need } from './scopes.ts'

/** `status`: ours, that of the same refusal over HTTP. */
const refused = v.object({ result: v.literal('error'), message: v.optional(v.string()), status: v.optional(v.int()) })
const artifactCell = v.object({ version, data: sealed })
const artifactPart = v.object({ data: sealed, expectedVersion: version })
const total = v.pipe(
  amounts,
  v.check(names => Object.hasOwn(names, 'total') && Object.keys(names).length <= 50, 'must have a total and at most 50 names')
)
export const rpcMethod = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))
/** Sealed text from every known client; any value is forwarded to the callee unchanged. */
export const rpcParams = v.optional(v.unknown())
export type RpcParams = v.InferOutput<typeof rpcParams>

/** The Socket.IO events that a connected client may send: the payload of each and the content of its acknowledgement. */
export const events = {
  ping: event('any', v.unknown(), v.object({})),
  'update-metadata': event(
    'write',
    v.object({ sid: sessionId, metadata: sealedMetadata, expectedVersion: version }),
    cellAck('metadata', sealed)
  ),
  'update-state': event(
    'write',
    v.object({ sid: sessionId, agentState: v.nullable(sealedState), expectedVersion: version }),
    cellAck('agentState', v.nullable(sealed))
  ),
  'session-alive': event(
    'write',
    v.object({ sid: sessionId, time, thinking: v.nullish(v.boolean()), mode: v.nullish(v.text(64)) }),
    v.undefined()
  ),
  'session-end': event('write', v.object({ sid: sessionId, time }), v.undefined()),
  message: event('write', v.object({ sid: sessionId, message: sealed, localId: v.nullish(localId) }), v.undefined()),
  'machine-alive': event('write', v.object({ machineId, time }), v.undefined()),
  'machine-update-metadata': event(
    'write',
    v.object({ machineId, metadata: sealedMetadata, expectedVersion: version }),
    cellAck('metadata', sealed)
  ),
  'machine-update-state': event(
    'write',
    v.object({ machineId, daemonState: v.nullable(sealedState), expectedVersion: version }),
    cellAck('daemonState', v.nullable(sealed))
  ),
  'rpc-register': event('write', v.object({ method: rpcMethod }), v.undefined()),
  'rpc-unregister': event('write', v.object({ method: rpcMethod }), v.undefined()),
  'rpc-call': event(
    'call',
    v.object({ method: rpcMethod, params: rpcParams }),
    v.union([v.object({ ok: v.literal(true), result: sealed }), v.object({ ok: v.literal(false), error: v.string() })])
  ),
  'app-state': event(
    'any',
    v.object({
      state: v.text(64),
      partials: v.fallback(v.optional(v.boolean()), undefined),
      watchedForMs: v.fallback(v.optional(watchedForMs), undefined)
    }),
    v.undefined()
  ),
  'usage-report': event(
    'write',
    v.object({ key: plainText(200), sessionId: v.nullish(sessionId), tokens: total, cost: total }),
    v.union([
      v.object({ success: v.literal(true), reportId: v.string(), createdAt: time, updatedAt: time }),
      v.object({ success: v.literal(false), error: v.string() })
    ])
  ),
  'artifact-read': event(
    'read',
    v.object({ artifactId }),
    v.union([v.object({ result: v.literal('success'), artifact: artifactRecord }), refused])
  ),
  'artifact-create': event(
    'write',
    artifactDraft,
    v.union([v.object({ result: v.literal('success'), artifact: artifactRecord }), refused])
  ),
  'artifact-update': event(
    'write',
    v.pipe(
      v.object({ artifactId, header: v.optional(artifactPart), body: v.optional(artifactPart) }),
      v.check(({ header, body }) => header !== undefined || body !== undefined, 'has nothing to replace')
    ),
    v.union([
      v.object({ result: v.picklist(['success', 'version-mismatch']), header: v.optional(artifactCell), body: v.optional(artifactCell) }),
      refused
    ])
  ),
  'artifact-delete': event('write', v.object({ artifactId }), v.union([v.object({ result: v.literal('success') }), refused])),
  'access-key-get': event(
    'read',
    v.object({ sessionId, machineId }),
    v.union([
      v.object({ ok: v.literal(true), accessKey: v.nullable(accessKeyRecord) }),
      v.object({ ok: v.literal(false), error: v.string() })
    ])
  ),
  partial: event('write', v.object({ sid: sessionId, partial: sealed }), v.undefined(), true)
} as const

export type ClientEvent = keyof typeof events
export type PayloadOf<Name extends ClientEvent> = v.InferOutput<(typeof events)[Name]['payload']>
export type AckOf<Name extends ClientEvent> = v.InferOutput<(typeof events)[Name]['ack']>

/**
 * The event that the callee of a call receives; its acknowledgement carries the sealed answer. `by`: ours, the device of the caller's sign-in, as
 * this server identified it; absent for a token without a device.
 */
export const rpcRequest = v.object({ method: rpcMethod, params: rpcParams, by: v.fallback(v.optional(deviceId), undefined) })
export const rpcRegistered = v.object({ method: rpcMethod })

function event<Payload extends v.GenericSchema, Ack extends v.GenericSchema>(needs: Need, payload: Payload, ack: Ack, ours = false) {
  return { needs, payload, ack, ours }
}

function cellAck<Field extends string, Value extends v.GenericSchema>(field: Field, value: Value) {
  const current = v.object({ version, ...fieldOf(field, value) })
  return v.union([
    v.object({ ...current.entries, result: v.literal('success') }),
    v.object({ ...current.entries, result: v.literal('version-mismatch') }),
    refused
  ])
}

function fieldOf<Field extends string, Value extends v.GenericSchema>(field: Field, value: Value) {
  // A computed key widens to `string`; this restores its type.
  return { [field]: value } as Record<Field, Value>
}
