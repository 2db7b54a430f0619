import * as v from '../../schema.ts'
import { machineId, sessionId } from './ids.ts'

/** Where Socket.IO is served. */
export const socketPath = '/v1/updates'
export const pingIntervalMs = 15_000
export const pingTimeoutMs = 45_000
/** What existing clients need in one packet, and no more: larger values go over HTTP, where what arrives is counted. */
export const maxPacketBytes = 24 * 1024 * 1024

/** For how long an `active` app counts as looked at, since a person touched it; without it until it says otherwise. */
export const watchedForMs = v.pipe(v.number(), v.minValue(0), v.maxValue(300_000))

/**
 * The auth object of the CONNECT packet. A field of the wrong form counts as absent: after a refusal existing apps stay away.
 * A connection sees what its scope may see: the whole account, one session or
 * one machine. Ours are `signals: true`: the connection knows the updates and signals that are ours, and is sent them; `echo: false`: its own
 * versioned updates do not come back to it; and `partials: false`: no text that still grows is sent to it, until its `app-state` says otherwise.
 */
export const handshake = v.object({
  token: v.fallback(v.optional(v.text(4096)), undefined),
  clientType: v.fallback(v.optional(v.text(64)), undefined),
  sessionId: v.fallback(v.optional(sessionId), undefined),
  machineId: v.fallback(v.optional(machineId), undefined),
  appState: v.fallback(v.optional(v.text(64)), undefined),
  signals: v.fallback(v.optional(v.boolean()), undefined),
  watchedForMs: v.fallback(v.optional(watchedForMs), undefined),
  echo: v.fallback(v.optional(v.boolean()), undefined),
  partials: v.fallback(v.optional(v.boolean()), undefined)
})

export type Handshake = v.InferOutput<typeof handshake>
