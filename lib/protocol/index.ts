// For those who write another client or read what ours store: the schemas of `docs/protocol.md` and of the content of messages.

export { type DaemonState, daemonState, type MachineMetadata, machineMetadata } from './sealed/machine.ts'
export {
  agentMessage,
  type Envelope,
  envelope,
  type MessageBody,
  messageBody,
  type PartialBody,
  partialBody,
  type SessionEvent,
  sessionEvent,
  type UserText,
  userText
} from './sealed/messages.ts'
export { type AgentState, agentState, type SessionMetadata, sessionMetadata } from './sealed/session.ts'
export { type Ephemeral, ephemeral } from './wire/ephemerals.ts'
export { type AckOf, type ClientEvent, events, type PayloadOf } from './wire/events.ts'
export { type CallFailure, callFailures, type FailureCode, failures } from './wire/failures.ts'
export { type Handshake, handshake, maxPacketBytes, pingIntervalMs, pingTimeoutMs, socketPath } from './wire/handshake.ts'
export {
  type AccountId,
  type ArtifactId,
  type AttachmentId,
  accountId,
  artifactId,
  attachmentId,
  type ConnectionId,
  connectionId,
  type DeviceId,
  deviceId,
  type InviteId,
  inviteId,
  type KvKey,
  kvKey,
  type LocalId,
  localId,
  type MachineId,
  machineId,
  type PairingId,
  pairingId,
  type Sealed,
  type SessionId,
  sealed,
  sessionId,
  type TokenId,
  tokenId
} from './wire/ids.ts'
export {
  type BodyOf,
  type JsonRouteName,
  type OpenRouteName,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
  type RouteName,
  routes
} from './wire/routes.ts'
export { type Scope, scope } from './wire/scopes.ts'
export { type Update, type UpdateBody, update, updateBody } from './wire/updates.ts'
