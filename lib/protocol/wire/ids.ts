import * as v from '../../schema.ts'

/** Text that is stored and compared. A lone surrogate would be stored as a different text, so that two of them collide. */
export const plainText = (most: number) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.check(isWellFormed, 'is not well-formed text'))

export const accountId = id<'AccountId'>(64)
export const sessionId = id<'SessionId'>(64)
/** Chosen by the machine itself, unique within its account. */
export const machineId = id<'MachineId'>(200)
/** Chosen by the sender of a message, permanently unique within its session. */
export const localId = id<'LocalId'>(200)
/** Chosen by the client that creates the artifact, unique within its account. */
export const artifactId = id<'ArtifactId'>(64)
/** Chosen by clients and readable by the server. */
export const kvKey = id<'KvKey'>(1024)
export const tokenId = id<'TokenId'>(64)
export const inviteId = id<'InviteId'>(64)
export const pairingId = id<'PairingId'>(64)
export const deviceId = id<'DeviceId'>(64)
/** The Socket.IO id of one live connection, assigned when it is accepted. */
export const connectionId = id<'ConnectionId'>(64)
/** Chosen by the server: the random name of a file. */
export const attachmentId = branded<'AttachmentId'>(
  v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.enc$/, 'is not the name of an attachment'))
)

/** Opaque text that only wrapper and app can decrypt; stored and forwarded unchanged. */
export const sealed = sealedUpTo(32 * 1024 * 1024)
/** Smaller, because lists contain them: at most 1 MiB, and 4 MiB for the state of an agent or a daemon. */
export const sealedMetadata = sealedUpTo(1024 * 1024)
export const sealedState = sealedUpTo(4 * 1024 * 1024)
/** A key is short in any wrapping: at most 64 KiB. */
export const sealedKey = sealedUpTo(64 * 1024)

export const seq = v.pipe(v.int(), v.minValue(0), v.maxValue(2_147_483_646))
export const version = v.pipe(v.int(), v.minValue(0))
/** Milliseconds since 1970. */
export const time = v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15))

export type AccountId = v.InferOutput<typeof accountId>
export type SessionId = v.InferOutput<typeof sessionId>
export type MachineId = v.InferOutput<typeof machineId>
export type LocalId = v.InferOutput<typeof localId>
export type ArtifactId = v.InferOutput<typeof artifactId>
export type KvKey = v.InferOutput<typeof kvKey>
export type TokenId = v.InferOutput<typeof tokenId>
export type InviteId = v.InferOutput<typeof inviteId>
export type PairingId = v.InferOutput<typeof pairingId>
export type DeviceId = v.InferOutput<typeof deviceId>
export type ConnectionId = v.InferOutput<typeof connectionId>
export type AttachmentId = v.InferOutput<typeof attachmentId>
export type Sealed = v.InferOutput<typeof sealed>

/** Like `sealed`, with another length. */
export function sealedUpTo(most: number) {
  return branded<'Sealed'>(v.pipe(v.string(), v.maxLength(most), v.check(isWellFormed, 'is not well-formed text')))
}

function id<Name extends string>(most: number) {
  return branded<Name>(plainText(most))
}

/** Brands exist only for the compiler. */
function branded<Name extends string>(schema: v.GenericSchema<string>) {
  return schema as v.GenericSchema<string, string & v.Brand<Name>>
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
