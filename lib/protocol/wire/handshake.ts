import * as v from '../../schema.ts'
import { machineId, sessionId } from './ids.ts'

/** Where Socket.IO is served. */
export const socketPath = '/v1/updates'
export const pingIntervalMs = 15_000
export const pingTimeoutMs = 45_000
/** The largest packet that existing clients need; larger values go over HTTP, where bytes are counted as they arrive. */
export const maxPacketBytes = 24 * 1024 * 1024

/** How long an `active` app counts as in use after the last touch; if absent, until its next report. */
export const watchedForMs = v.pipe(v.number(), v.minValue(0), v.maxValue(300_000))

/**
 * The auth object of the CONNECT packet. A malformed field counts as absent: after a refusal existing apps do not reconnect.
 * A connection sees what its scope allows: the whole account, one session or
 * one machine. Ours are `signals: true`: the connection knows our own updates and signals, and gets them; `echo: false`: its own
 * versioned updates are not sent back to it; and `partials: false`: no growing text is sent to it, until its `app-state` asks for it.
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
