import * as z from 'zod'
import { machineId, sessionId } from './ids.ts'

/** Where Socket.IO is served. */
export const socketPath = '/v1/updates'
export const pingIntervalMs = 15_000
export const pingTimeoutMs = 45_000
export const maxPacketBytes = 100 * 1024 * 1024

/**
 * The auth object of the CONNECT packet. A connection sees what its scope may see: the whole account, one session or
 * one machine. `echo: false` is ours: the connection's own versioned updates do not come back to it.
 */
export const handshake = z.object({
  token: z.string().max(4096).optional(),
  clientType: z.string().max(64).optional(),
  sessionId: sessionId.optional(),
  machineId: machineId.optional(),
  appState: z.string().max(64).optional(),
  echo: z.boolean().optional()
})

export type Handshake = z.infer<typeof handshake>
