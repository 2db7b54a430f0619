import * as z from 'zod'
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

/** `status`: ours, the one that the same refusal has over HTTP. */
const refused = z.object({ result: z.literal('error'), message: z.string().optional(), status: z.int().optional() })
const artifactCell = z.object({ version, data: sealed })
const artifactPart = z.object({ data: sealed, expectedVersion: version })
const total = amounts.refine(names => Object.hasOwn(names, 'total') && Object.keys(names).length <= 50, 'a total, and at most 50 names')
export const rpcMethod = z.string().min(1).max(4096)
/** Sealed text from every client we know of; whatever it is goes to the callee as it came. */
export const rpcParams = z.unknown().optional()
export type RpcParams = z.infer<typeof rpcParams>

/** What a connected client may send: the payload of each Socket.IO event and what its acknowledgement carries. */
export const events = {
  ping: event('any', z.unknown(), z.object({}), 'Answered once everything sent before it was taken in.'),
  'update-metadata': event(
    'write',
    z.object({ sid: sessionId, metadata: sealedMetadata, expectedVersion: version }),
    cellAck('metadata', sealed),
    'Replaces the metadata of a session over the expected version.'
  ),
  'update-state': event(
    'write',
    z.object({ sid: sessionId, agentState: sealedState.nullable(), expectedVersion: version }),
    cellAck('agentState', sealed.nullable()),
    'Replaces the agent state of a session over the expected version.'
  ),
  'session-alive': event(
    'write',
    z.object({ sid: sessionId, time, thinking: z.boolean().nullish(), mode: z.string().max(64).nullish() }),
    z.undefined(),
    'The session lives, and whether its agent is at work.'
  ),
  'session-end': event('write', z.object({ sid: sessionId, time }), z.undefined(), 'The session has ended.'),
  message: event(
    'write',
    z.object({ sid: sessionId, message: sealed, localId: localId.nullish() }),
    z.undefined(),
    'Stores one message; everybody but the sender hears of it.'
  ),
  'machine-alive': event('write', z.object({ machineId, time }), z.undefined(), 'The machine lives.'),
  'machine-update-metadata': event(
    'write',
    z.object({ machineId, metadata: sealedMetadata, expectedVersion: version }),
    cellAck('metadata', sealed),
    'Replaces the metadata of a machine over the expected version.'
  ),
  'machine-update-state': event(
    'write',
    z.object({ machineId, daemonState: sealedState.nullable(), expectedVersion: version }),
    cellAck('daemonState', sealed.nullable()),
    'Replaces the daemon state of a machine over the expected version.'
  ),
  'rpc-register': event(
    'write',
    z.object({ method: rpcMethod }),
    z.undefined(),
    'This connection answers calls of the method from now on.'
  ),
  'rpc-unregister': event(
    'write',
    z.object({ method: rpcMethod }),
    z.undefined(),
    'This connection no longer answers calls of the method.'
  ),
  'rpc-call': event(
    'call',
    z.object({ method: rpcMethod, params: rpcParams }),
    z.union([z.object({ ok: z.literal(true), result: sealed }), z.object({ ok: z.literal(false), error: z.string() })]),
    'Calls a method that another connection of the account answers.'
  ),
  'app-state': event(
    'any',
    z.object({
      state: z.string().max(64),
      partials: z.boolean().optional().catch(undefined),
      watchedForMs: watchedForMs.optional().catch(undefined)
    }),
    z.undefined(),
    'Whether a person looks at this app, and for how long that counts (ours; without it until the next); and whether text that still grows is sent to it, which stays as it was when it is left out.'
  ),
  'usage-report': event(
    'write',
    z.object({ key: plainText(200), sessionId: sessionId.nullish(), tokens: total, cost: total }),
    z.union([
      z.object({ success: z.literal(true), reportId: z.string(), createdAt: time, updatedAt: time }),
      z.object({ success: z.literal(false), error: z.string() })
    ]),
    'What an agent used so far; replaces the last report of the same session and key.'
  ),
  'artifact-read': event(
    'read',
    z.object({ artifactId }),
    z.union([z.object({ result: z.literal('success'), artifact: artifactRecord }), refused]),
    'One artifact with its body.'
  ),
  'artifact-create': event(
    'write',
    artifactDraft,
    z.union([z.object({ result: z.literal('success'), artifact: artifactRecord }), refused]),
    'Makes an artifact, or loads the one that has this id.'
  ),
  'artifact-update': event(
    'write',
    z
      .object({ artifactId, header: artifactPart.optional(), body: artifactPart.optional() })
      .refine(({ header, body }) => header !== undefined || body !== undefined, 'nothing to replace'),
    z.union([
      z.object({ result: z.enum(['success', 'version-mismatch']), header: artifactCell.optional(), body: artifactCell.optional() }),
      refused
    ]),
    'Replaces header, body or both over the expected versions; a mismatch says what is there.'
  ),
  'artifact-delete': event(
    'write',
    z.object({ artifactId }),
    z.union([z.object({ result: z.literal('success') }), refused]),
    'Removes an artifact.'
  ),
  'access-key-get': event(
    'read',
    z.object({ sessionId, machineId }),
    z.union([
      z.object({ ok: z.literal(true), accessKey: accessKeyRecord.nullable() }),
      z.object({ ok: z.literal(false), error: z.string() })
    ]),
    'The access key of a session on a machine, null when there is none.'
  ),
  partial: event(
    'write',
    z.object({ sid: sessionId, partial: sealed }),
    z.undefined(),
    'Text that is still growing, handed on to those who look and never stored.',
    true
  )
} as const

export type ClientEvent = keyof typeof events
export type PayloadOf<Name extends ClientEvent> = z.infer<(typeof events)[Name]['payload']>
export type AckOf<Name extends ClientEvent> = z.infer<(typeof events)[Name]['ack']>

/**
 * What the handler of a call hears, with an acknowledgement that carries its sealed answer. `by`: ours, the device whose sign-in called, as
 * this server knows it; none for a token that is no device.
 */
export const rpcRequest = z.object({ method: rpcMethod, params: rpcParams, by: deviceId.optional().catch(undefined) })
export const rpcRegistered = z.object({ method: rpcMethod })
export const rpcError = z.object({ type: z.enum(['register', 'unregister']), error: z.string() })

function event<Payload extends z.ZodType, Ack extends z.ZodType>(needs: Need, payload: Payload, ack: Ack, about: string, ours = false) {
  return { needs, payload, ack, about, ours }
}

function cellAck<Field extends string, Value extends z.ZodType>(field: Field, value: Value) {
  const current = z.object({ version, ...fieldOf(field, value) })
  return z.union([current.extend({ result: z.literal('success') }), current.extend({ result: z.literal('version-mismatch') }), refused])
}

function fieldOf<Field extends string, Value extends z.ZodType>(field: Field, value: Value) {
  // A computed key widens to `string`; this says again which key it is.
  return { [field]: value } as Record<Field, Value>
}
