import * as v from '../../schema.ts'
import { accountId, artifactId, deviceId, kvKey, localId, machineId, sealed, sessionId, time, tokenId, version } from './ids.ts'
import { scope } from './scopes.ts'

/**
 * A session as clients see it. `seq` is that of its last message; `dataEncryptionKey` null means legacy encryption.
 * Ours: the messages up to `deliveredSeq` reached the machine, and the agent read those up to `readSeq`.
 */
export const sessionRecord = v.object({
  id: sessionId,
  seq: v.int(),
  deliveredSeq: v.optional(v.int()),
  readSeq: v.optional(v.int()),
  metadata: sealed,
  metadataVersion: version,
  agentState: v.nullable(sealed),
  agentStateVersion: version,
  dataEncryptionKey: v.nullable(sealed),
  active: v.boolean(),
  activeAt: time,
  createdAt: time,
  updatedAt: time
})

export const listedSession = v.object({ ...sessionRecord.entries, lastMessage: v.null() })

export const machineRecord = v.object({
  id: machineId,
  metadata: sealed,
  metadataVersion: version,
  daemonState: v.nullable(sealed),
  daemonStateVersion: version,
  dataEncryptionKey: v.nullable(sealed),
  active: v.boolean(),
  activeAt: time,
  createdAt: time,
  updatedAt: time
})

/** `seq` is always 0; existing clients require the field. */
export const listedMachine = v.object({ ...machineRecord.entries, seq: v.int() })

export const encryptedContent = v.object({ t: v.literal('encrypted'), c: sealed })

/** The server's reply to the sender of a message: everything but the content. */
export const messageReceipt = v.object({
  id: v.string(),
  seq: v.int(),
  localId: v.nullable(localId),
  createdAt: time,
  updatedAt: time
})

export const messageRecord = v.object({ ...messageReceipt.entries, content: encryptedContent })

export const accountProfile = v.object({
  id: accountId,
  timestamp: time,
  firstName: v.nullable(v.string()),
  lastName: v.nullable(v.string()),
  username: v.nullable(v.string()),
  avatar: v.null(),
  github: v.null(),
  connectedServices: v.array(v.string())
})

export const pushTokenRecord = v.object({ id: v.string(), token: v.string(), createdAt: time, updatedAt: time })

const deviceKind = v.picklist(['account', 'terminal', 'device'])
/** The holder of a token: an app that signed in, a paired terminal or device, or a program. */
export const tokenKind = v.picklist([...deviceKind.options, 'named'])

/** A signed-in device. `renews` is false for devices that keep one token, as existing clients do. */
export const deviceRecord = v.object({
  id: deviceId,
  kind: deviceKind,
  name: v.string(),
  renews: v.boolean(),
  createdAt: time,
  lastUsedAt: time,
  /** The network it was last seen in. */
  lastUsedFrom: v.string(),
  current: v.boolean()
})

/** A named token. The token itself is shown once, when it is created. */
export const tokenRecord = v.object({
  id: tokenId,
  name: v.string(),
  scopes: v.array(scope),
  createdAt: time,
  lastUsedAt: time,
  lastUsedFrom: v.string(),
  expiresAt: v.nullable(time)
})

/** An artifact as listed: without its body. `seq` counts how often it was written. */
export const artifactHead = v.object({
  id: artifactId,
  header: sealed,
  headerVersion: version,
  dataEncryptionKey: sealed,
  seq: v.int(),
  createdAt: time,
  updatedAt: time
})

export const artifactRecord = v.object({ ...artifactHead.entries, body: sealed, bodyVersion: version })

/** A value stored for one session on one machine. */
export const accessKeyRecord = v.object({ data: sealed, dataVersion: version, createdAt: time, updatedAt: time })

export const kvRecord = v.object({ key: kvKey, value: sealed, version })

/** A value of null removes the key. */
export const kvChange = v.object({ key: kvKey, value: v.nullable(sealed), version })

/** Why a change of keys was refused: the stored values, version -1 for a key that does not exist. */
export const kvConflict = v.object({
  key: kvKey,
  error: v.literal('version-mismatch'),
  version: v.pipe(v.int(), v.minValue(-1)),
  value: v.nullable(sealed)
})

/** Usage of an agent, by name. Existing apps know tokens `total`, `input`, `output`, `cache_creation`, `cache_read` and cost `total`, `input`, `output`. */
export const amounts = v.record(v.text(100), v.pipe(v.number(), v.minValue(0), v.maxValue(1e15)))

export type SessionRecord = v.InferOutput<typeof sessionRecord>
export type MachineRecord = v.InferOutput<typeof machineRecord>
export type MessageReceipt = v.InferOutput<typeof messageReceipt>
export type MessageRecord = v.InferOutput<typeof messageRecord>
export type AccountProfile = v.InferOutput<typeof accountProfile>
export type ArtifactHead = v.InferOutput<typeof artifactHead>
export type ArtifactRecord = v.InferOutput<typeof artifactRecord>
