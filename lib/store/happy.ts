/** What a Happy server stores of the things that this server has too. Texts are sealed by clients unless they say otherwise. */

export interface HappyAccount {
  id: string
  /** Hex of an Ed25519 key. */
  publicKey: string
  /** The last number of an update. */
  seq: number
  settings: string | null
  settingsVersion: number
  createdAt: number
}

export interface HappySession {
  id: string
  tag: string
  metadata: string
  metadataVersion: number
  agentState: string | null
  agentStateVersion: number
  dataKey: Uint8Array | null
  /** That of the last message. */
  seq: number
  activeAt: number
  createdAt: number
  updatedAt: number
}

/** In the order of `seq`, which may have gaps and repeats; then of time and id. */
export interface HappyMessage {
  id: string
  seq: number
  localId: string | null
  /** JSON that should be `{ t: 'encrypted', c }`. */
  content: unknown
  createdAt: number
}

export interface HappyMachine {
  id: string
  metadata: string
  metadataVersion: number
  daemonState: string | null
  daemonStateVersion: number
  dataKey: Uint8Array | null
  activeAt: number
  createdAt: number
  updatedAt: number
}

export interface HappyArtifact {
  id: string
  header: Uint8Array
  headerVersion: number
  body: Uint8Array
  bodyVersion: number
  dataKey: Uint8Array
  seq: number
  createdAt: number
  updatedAt: number
}

export interface HappyAccessKey {
  sessionId: string
  machineId: string
  data: string
  dataVersion: number
  createdAt: number
  updatedAt: number
}

/** `value` is null once the key is removed. */
export interface HappyValue {
  key: string
  value: Uint8Array | null
  version: number
  updatedAt: number
}

/** Readable: tokens and cost by name. */
export interface HappyUsage {
  key: string
  sessionId: string | null
  data: unknown
  createdAt: number
  updatedAt: number
}

export interface HappyPushToken {
  token: string
  createdAt: number
  updatedAt: number
}

/** The database of a Happy server as it was at one moment; nothing is written to it. */
export interface HappyDatabase {
  /** Other programs that are connected to it: what they write from now on is not read. */
  others: number
  /** The first one first. */
  accounts(): AsyncIterable<HappyAccount>
  sessions(account: string): AsyncIterable<HappySession>
  messages(session: string): AsyncIterable<HappyMessage>
  machines(account: string): AsyncIterable<HappyMachine>
  artifacts(account: string): AsyncIterable<HappyArtifact>
  accessKeys(account: string): AsyncIterable<HappyAccessKey>
  values(account: string): AsyncIterable<HappyValue>
  /** The newest first. */
  usage(account: string): AsyncIterable<HappyUsage>
  pushTokens(account: string): AsyncIterable<HappyPushToken>
  close(): Promise<void>
}
