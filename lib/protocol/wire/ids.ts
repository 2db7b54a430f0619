import * as z from 'zod'

/** Text that is stored and compared. A lone surrogate would come back as another text, so that two of them collide. */
export const plainText = (most: number) => z.string().min(1).max(most).refine(isWellFormed, 'not well-formed text')
const id = plainText

export const accountId = id(64).brand<'AccountId'>()
export const sessionId = id(64).brand<'SessionId'>()
/** Chosen by the machine itself, unique within its account. */
export const machineId = id(200).brand<'MachineId'>()
/** Chosen by the sender of a message, unique within its session for ever. */
export const localId = id(200).brand<'LocalId'>()
/** Chosen by the client that makes the artifact, unique within its account. */
export const artifactId = id(64).brand<'ArtifactId'>()
/** Chosen by clients and readable by the server. */
export const kvKey = id(1024).brand<'KvKey'>()
export const tokenId = id(64).brand<'TokenId'>()
export const inviteId = id(64).brand<'InviteId'>()
export const pairingId = id(64).brand<'PairingId'>()
export const deviceId = id(64).brand<'DeviceId'>()
/** The Socket.IO id of one live connection, given out when it is accepted. */
export const connectionId = id(64).brand<'ConnectionId'>()
/** Chosen by the server: the random name of a file. */
export const attachmentId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.enc$/, 'not the name of an attachment')
  .brand<'AttachmentId'>()

/** Opaque text that only wrapper and app can open; kept and handed on as it came. */
export const sealed = sealedUpTo(32 * 1024 * 1024)
/** Lists carry them, so that they are smaller: at most 1 MiB, and for what an agent or a daemon is at 4 MiB. */
export const sealedMetadata = sealedUpTo(1024 * 1024)
export const sealedState = sealedUpTo(4 * 1024 * 1024)
/** A key is short, however it is wrapped: at most 64 KiB. */
export const sealedKey = sealedUpTo(64 * 1024)

export const seq = z.int().min(0).max(2_147_483_646)
export const version = z.int().min(0)
/** Milliseconds since 1970. */
export const time = z.number().min(0).max(8.64e15)

export type AccountId = z.infer<typeof accountId>
export type SessionId = z.infer<typeof sessionId>
export type MachineId = z.infer<typeof machineId>
export type LocalId = z.infer<typeof localId>
export type ArtifactId = z.infer<typeof artifactId>
export type KvKey = z.infer<typeof kvKey>
export type TokenId = z.infer<typeof tokenId>
export type InviteId = z.infer<typeof inviteId>
export type PairingId = z.infer<typeof pairingId>
export type DeviceId = z.infer<typeof deviceId>
export type ConnectionId = z.infer<typeof connectionId>
export type AttachmentId = z.infer<typeof attachmentId>
export type Sealed = z.infer<typeof sealed>

/** As `sealed`, of a length of its own. */
export function sealedUpTo(most: number) {
  return z.string().max(most).refine(isWellFormed, 'not well-formed text').brand<'Sealed'>()
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
