export { type BackupKeyReading, type Cipher, cryptoReady, formatBackupKey, readBackupKey } from '../crypto/index.ts'
export {
  type CallFacts,
  CallFailed,
  type CallFailureReason,
  callMethod,
  callSession,
  type Forgery,
  postCall,
  type Serving,
  type SessionHandlers,
  serveCalls,
  serveSession
} from './calls/calls.ts'
export { callMachine, type MachineHandlers, serveMachine } from './calls/machine-calls.ts'
export {
  type AccountChange,
  type AccountFeed,
  type AccountFeedState,
  type AccountSession,
  openAccountFeed,
  type SettingsCell
} from './feed/account-feed.ts'
export { type Feed, type FeedState, openFeed } from './feed/feed.ts'
export { mayRetry, Refused, Unreachable } from './link/refusals.ts'
export { type CallOptions, createRest, type Fetch, type RequestOf, type Rest, type TokenSource } from './link/rest.ts'
export { type Answering, type ConnectionScope, type LiveSocket, openSocket, type SocketState } from './link/socket.ts'
export type { AppState } from './link/socket-sign-in.ts'
export {
  type AttachmentLink,
  type ByteFetch,
  downloadAttachment,
  isRefOf,
  type TransferOptions,
  type UploadOptions,
  uploadAttachment
} from './outbox/attachments.ts'
export {
  type SealedCell,
  type WriteCell,
  writeAgentState,
  writeDaemonState,
  writeMachineMetadata,
  writeSessionMetadata,
  writeSettings
} from './outbox/cell-writers.ts'
export { type Cell, openCell, UnreadableCell } from './outbox/cells.ts'
export { createMemoryJournal, type Journal } from './outbox/journal.ts'
export { type Outbox, OutboxFull, type OutboxState, openOutbox } from './outbox/outbox.ts'
export { createPartialReader, createPartialTeller, type PartialReader, type PartialTeller } from './outbox/partials.ts'
export { type SendMessages, sendOver } from './outbox/send-messages.ts'
export type { PeerCipher, Pin } from './sealed/call-seals.ts'
export { createOrder, type Order, type Place } from './sealed/message-order.ts'
export {
  type Draft,
  envelopeOf,
  giveUpDraft,
  type Numbers,
  newEnvelope,
  newId,
  newSessionMessage,
  newUserText,
  type OpenedMessage,
  openMessage,
  openMessageAside,
  openPartial,
  readyEvent,
  type SpeakingCipher,
  sealDraft,
  sealPartial,
  writerOf
} from './sealed/messages.ts'
export { createNumbers } from './sealed/numbers.ts'
export { openPreview, type PreviewPlace } from './sealed/previews.ts'
export { type AccountVault, accountVault, type SealingKey, type TerminalKeys, type TerminalVault, terminalVault } from './sealed/vault.ts'
export {
  type Linking,
  type LinkingApproval,
  type LinkingEnd,
  type LinkingView,
  lookAtRequest,
  type RequestLink,
  readRequestLink,
  startLinking
} from './sign-in/linking.ts'
export { keyFingerprint, type SignInOptions, signIn } from './sign-in/login.ts'
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
} from './sign-in/pairing.ts'
export type { Renewal } from './sign-in/renewal.ts'
export { type KeeperOptions, keepToken, type SignedIn } from './sign-in/token-keeper.ts'
