export { type BackupKeyReading, type Cipher, cryptoReady, formatBackupKey, readBackupKey } from '../crypto/index.ts'
export {
  type AccountChange,
  type AccountFeed,
  type AccountFeedState,
  type AccountSession,
  openAccountFeed,
  type SettingsCell
} from './account-feed.ts'
export {
  type AttachmentLink,
  type ByteFetch,
  downloadAttachment,
  isRefOf,
  type TransferOptions,
  type UploadOptions,
  uploadAttachment
} from './attachments.ts'
export type { PeerCipher, Pin } from './call-seals.ts'
export {
  type CallFacts,
  CallFailed,
  type CallFailure,
  callMethod,
  callSession,
  type Forgery,
  postCall,
  type Serving,
  type SessionHandlers,
  serveCalls,
  serveSession
} from './calls.ts'
export {
  type SealedCell,
  type WriteCell,
  writeAgentState,
  writeDaemonState,
  writeMachineMetadata,
  writeSessionMetadata,
  writeSettings
} from './cell-writers.ts'
export { type Cell, openCell, UnreadableCell } from './cells.ts'
export { type Feed, type FeedState, openFeed } from './feed.ts'
export type { AppState } from './introduction.ts'
export { createMemoryJournal, type Draft, type Journal } from './journal.ts'
export {
  type Linking,
  type LinkingApproval,
  type LinkingEnd,
  type LinkingView,
  lookAtRequest,
  type RequestLink,
  readRequestLink,
  startLinking
} from './linking.ts'
export { keyFingerprint, type SignInOptions, signIn } from './login.ts'
export { callMachine, type MachineHandlers, serveMachine } from './machine-calls.ts'
export {
  envelopeOf,
  giveUpDraft,
  type Numbers,
  newEnvelope,
  newId,
  type OpenedMessage,
  openMessage,
  openMessageAside,
  openPartial,
  readyEvent,
  type SpeakingCipher,
  sealDraft,
  sealPartial,
  sessionMessage,
  userText,
  writerOf
} from './messages.ts'
export { createNumbers } from './numbers.ts'
export { createOrder, type Order, type Place } from './order.ts'
export { type Outbox, OutboxFull, type OutboxState, openOutbox } from './outbox.ts'
export {
  answerDeviceLinking,
  answerPairing,
  type DeviceLinking,
  type PairingEnd,
  type ReadLink,
  readLink,
  readPairingStatus,
  startDeviceLinking,
  startPairing,
  type TerminalPairing
} from './pairing.ts'
export { createPartialReader, createPartialTeller, type PartialReader, type PartialTeller } from './partials.ts'
export { openPreview, type PreviewPlace } from './previews.ts'
export { mayRetry, Refused, Unreachable } from './refusals.ts'
export type { Renewal } from './renewal.ts'
export { type CallOptions, createRest, type Fetch, type RequestOf, type Rest, type TokenSource } from './rest.ts'
export { type SendMessages, sendOver } from './send-messages.ts'
export { type Answering, type LiveSocket, openSocket, type Scope, type SocketState } from './socket.ts'
export { type KeeperOptions, keepToken, type SignedIn } from './token-keeper.ts'
export { type AccountVault, accountVault, type SealingKey, type TerminalKeys, type TerminalVault, terminalVault } from './vault.ts'
