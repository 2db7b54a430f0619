import * as z from 'zod'
import { accountId, artifactId, deviceId, kvKey, localId, machineId, sealed, sessionId, time, tokenId, version } from './ids.ts'
import { scope } from './scopes.ts'

/**
 * A session as clients see it. `seq` is that of its last message; `dataEncryptionKey` null means legacy encryption.
 * Ours: the messages up to `deliveredSeq` came to the machine, those up to `readSeq` to the agent.
 */
export const sessionRecord = z.object({
  id: sessionId,
  seq: z.int(),
  deliveredSeq: z.int().optional(),
  readSeq: z.int().optional(),
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

/** Who a token is for: an app that signed in, a terminal or a device that was paired, or a program that was given it. */
export const tokenKind = z.enum(['account', 'terminal', 'device', 'named'])

/** One device that is signed in. `renews` is false for those that keep one token, as existing clients do. */
export const deviceRecord = z.object({
  id: deviceId,
  kind: tokenKind.exclude(['named']),
  name: z.string(),
  renews: z.boolean(),
  createdAt: time,
  lastUsedAt: time,
  /** The network it was last seen in. */
  lastUsedFrom: z.string(),
  current: z.boolean()
})

/** A named token. The token itself is shown once, when it is made. */
export const tokenRecord = z.object({
  id: tokenId,
  name: z.string(),
  scopes: z.array(scope),
  createdAt: time,
  lastUsedAt: time,
  lastUsedFrom: z.string(),
  expiresAt: time.nullable()
})

/** An artifact as lists show it: without its body. `seq` counts how often it was written. */
export const artifactHead = z.object({
  id: artifactId,
  header: sealed,
  headerVersion: version,
  dataEncryptionKey: sealed,
  seq: z.int(),
  createdAt: time,
  updatedAt: time
})

export const artifactRecord = artifactHead.extend({ body: sealed, bodyVersion: version })

/** What one session on one machine keeps for the apps. */
export const accessKeyRecord = z.object({ data: sealed, dataVersion: version, createdAt: time, updatedAt: time })

export const kvRecord = z.object({ key: kvKey, value: sealed, version })

/** A value of null: the key is removed. */
export const kvChange = z.object({ key: kvKey, value: sealed.nullable(), version })

/** Why a change of keys was refused: what is there instead, version -1 for a key nobody has written. */
export const kvConflict = z.object({
  key: kvKey,
  error: z.literal('version-mismatch'),
  version: z.int().min(-1),
  value: sealed.nullable()
})

/** What an agent used, by name. Existing apps know tokens `total`, `input`, `output`, `cache_creation`, `cache_read` and cost `total`, `input`, `output`. */
export const amounts = z.record(z.string().max(100), z.number().min(0).max(1e15))

export type SessionRecord = z.infer<typeof sessionRecord>
export type MachineRecord = z.infer<typeof machineRecord>
export type MessageReceipt = z.infer<typeof messageReceipt>
export type MessageRecord = z.infer<typeof messageRecord>
export type AccountProfile = z.infer<typeof accountProfile>
export type ArtifactHead = z.infer<typeof artifactHead>
export type ArtifactRecord = z.infer<typeof artifactRecord>
export type PushTokenRecord = z.infer<typeof pushTokenRecord>
export type TokenRecord = z.infer<typeof tokenRecord>
