import * as z from 'zod'
import { accountId, localId, machineId, sealed, sessionId, time, tokenId, version } from './ids.ts'

/** A session as clients see it. `seq` is that of its last message; `dataEncryptionKey` null means legacy encryption. */
export const sessionRecord = z.object({
  id: sessionId,
  seq: z.int(),
  metadata: sealed,
  metadataVersion: version,
  agentState: sealed.nullable(),
  agentStateVersion: version,
  dataEncryptionKey: sealed.nullable(),
  active: z.boolean(),
  activeAt: time,
  createdAt: time,
  updatedAt: time
})

export const listedSession = sessionRecord.extend({ lastMessage: z.null() })

export const machineRecord = z.object({
  id: machineId,
  metadata: sealed,
  metadataVersion: version,
  daemonState: sealed.nullable(),
  daemonStateVersion: version,
  dataEncryptionKey: sealed.nullable(),
  active: z.boolean(),
  activeAt: time,
  createdAt: time,
  updatedAt: time
})

/** `seq` is always 0; existing clients want the field. */
export const listedMachine = machineRecord.extend({ seq: z.int() })

export const encryptedContent = z.object({ t: z.literal('encrypted'), c: sealed })

/** What the server tells the sender of a message: everything but the content. */
export const messageReceipt = z.object({
  id: z.string(),
  seq: z.int(),
  localId: localId.nullable(),
  createdAt: time,
  updatedAt: time
})

export const messageRecord = messageReceipt.extend({ content: encryptedContent })

export const accountProfile = z.object({
  id: accountId,
  timestamp: time,
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  username: z.string().nullable(),
  avatar: z.null(),
  github: z.null(),
  connectedServices: z.array(z.string())
})

export const pushTokenRecord = z.object({ id: z.string(), token: z.string(), createdAt: time, updatedAt: time })

/** One sign-in of this account. The token itself is shown once, when it is made. */
export const tokenRecord = z.object({
  id: tokenId,
  kind: z.enum(['account', 'terminal', 'device']),
  label: z.string(),
  createdAt: time,
  lastUsedAt: time,
  current: z.boolean()
})

export type SessionRecord = z.infer<typeof sessionRecord>
export type MachineRecord = z.infer<typeof machineRecord>
export type MessageReceipt = z.infer<typeof messageReceipt>
export type MessageRecord = z.infer<typeof messageRecord>
export type AccountProfile = z.infer<typeof accountProfile>
export type PushTokenRecord = z.infer<typeof pushTokenRecord>
export type TokenRecord = z.infer<typeof tokenRecord>
