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
  CallFailed,
  type CallFailure,
  callMethod,
  callSession,
  type Serving,
  type SessionHandlers,
  serveCalls,
  serveSession
} from './calls.ts'
export {
  type Cell,
  openCell,
  type SealedCell,
  UnreadableCell,
  type WriteCell,
  writeAgentState,
  writeDaemonState,
  writeMachineMetadata,
  writeSessionMetadata,
  writeSettings
} from './cells.ts'
export { type Feed, type FeedState, openFeed } from './feed.ts'
export { createMemoryJournal, type Draft, type Journal } from './journal.ts'
export { signIn } from './login.ts'
export {
  envelopeOf,
  newEnvelope,
  newId,
  type OpenedMessage,
  openMessage,
  openPartial,
  readyEvent,
  sealDraft,
  sealPartial,
  sessionMessage,
  userText
} from './messages.ts'
export { type Outbox, OutboxFull, type OutboxState, openOutbox, type SendMessages, sendOver } from './outbox.ts'
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
export { type CallOptions, createRest, type Fetch, mayRetry, Refused, type RequestOf, type Rest, Unreachable } from './rest.ts'
export { type Answering, type LiveSocket, openSocket, type Scope, type SocketState } from './socket.ts'
export { type AccountVault, accountVault, type SealingKey, type TerminalKeys, type TerminalVault, terminalVault } from './vault.ts'
