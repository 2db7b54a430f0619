import {
  type Bytes,
  type Cipher,
  contentSecretKey,
  dataKeyCipher,
  deriveContentKeypair,
  engine,
  fromBase64,
  legacyBlobKey,
  legacyCipher,
  sessionBlobKey,
  toBase64,
  unwrapDataKey,
  wrapDataKey
} from '../../crypto/index.ts'

/**
 * A key with the server's copy of it. `wrapped` is the `dataEncryptionKey` to post, null for legacy
 * encryption.
 */
export interface SealingKey {
  cipher: Cipher
  wrapped: string | null
  /** 32 bytes, stored on this machine only. */
  raw: Bytes
}

/** What the owner of the account secret can do. Call after `cryptoReady()`. */
export interface AccountVault {
  readonly secret: Bytes
  readonly contentPublicKey: Bytes
  /** For account settings. */
  readonly settings: Cipher
  /**
   * For a session or machine by its `dataEncryptionKey`; undefined if that was wrapped for another
   * account.
   */
  openKey(dataEncryptionKey: string | null): Cipher | undefined
  /** The same for the attachments of a session. */
  openBlobKey(dataEncryptionKey: string | null): Bytes | undefined
  /**
   * The key itself, to pass on to a program that had it; undefined also for legacy encryption, where
   * it would be the account secret.
   */
  rawKey(dataEncryptionKey: string | null): Bytes | undefined
  newKey(): SealingKey
}

/** What a paired terminal can do: write for the account, and read what it wrote itself. */
export interface TerminalVault {
  /** 1 is legacy pairing, which handed over the account secret: legacy encryption for everything. */
  readonly version: 1 | 2
  /** For the row of this machine and calls to it. */
  readonly machine: SealingKey
  newSessionKey(): SealingKey
  /** For a session of this machine whose raw key was stored. */
  openSessionKey(raw: Uint8Array): SealingKey
}

/** What pairing gave the terminal, and it stores between runs. */
export type TerminalKeys = { version: 2; contentPublicKey: Bytes; machineKey: Bytes } | { version: 1; secret: Bytes }

/** `secret` has 32 bytes. */
export function accountVault(secret: Uint8Array): AccountVault {
  const legacy = legacyCipher(secret)
  // Curve operations take milliseconds on a phone: each is done once, and only on demand.
  const contentSecret = once(() => contentSecretKey(secret))
  const contentPublicKey = once(() => deriveContentKeypair(secret).publicKey)
  const dataKeys = new Map<string, Bytes | undefined>()
  const openDataKey = (dataEncryptionKey: string) => {
    if (!dataKeys.has(dataEncryptionKey)) {
      const wrapped = fromBase64(dataEncryptionKey)
      dataKeys.set(dataEncryptionKey, wrapped && unwrapDataKey(wrapped, contentSecret()))
    }
    return dataKeys.get(dataEncryptionKey)
  }
  return {
    secret: new Uint8Array(secret),
    get contentPublicKey() {
      return contentPublicKey()
    },
    settings: legacy,
    openKey(dataEncryptionKey) {
      if (dataEncryptionKey === null) return legacy
      const dataKey = openDataKey(dataEncryptionKey)
      return dataKey && dataKeyCipher(dataKey)
    },
    rawKey: dataEncryptionKey => (dataEncryptionKey === null ? undefined : openDataKey(dataEncryptionKey)),
    openBlobKey(dataEncryptionKey) {
      if (dataEncryptionKey === null) return legacyBlobKey(secret)
      const dataKey = openDataKey(dataEncryptionKey)
      return dataKey && sessionBlobKey(dataKey)
    },
    newKey: () => wrappedKey(engine.randomBytes(dataKeyLength), contentPublicKey())
  }
}

export function terminalVault(keys: TerminalKeys): TerminalVault {
  switch (keys.version) {
    case 1: {
      const key = { cipher: legacyCipher(keys.secret), wrapped: null, raw: keys.secret }
      return { version: 1, machine: key, newSessionKey: () => key, openSessionKey: () => key }
    }
    case 2: {
      const { contentPublicKey, machineKey } = keys
      return {
        version: 2,
        machine: wrappedKey(machineKey, contentPublicKey),
        newSessionKey: () => wrappedKey(engine.randomBytes(dataKeyLength), contentPublicKey),
        openSessionKey: raw => wrappedKey(new Uint8Array(raw), contentPublicKey)
      }
    }
  }
}

const dataKeyLength = 32

function wrappedKey(raw: Bytes, contentPublicKey: Uint8Array): SealingKey {
  return { cipher: dataKeyCipher(raw), wrapped: toBase64(wrapDataKey(raw, contentPublicKey)), raw }
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
