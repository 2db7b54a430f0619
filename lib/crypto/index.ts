export { engine } from '#crypto-engine'
export { signing } from '#crypto-signing'
export { type BackupKeyReading, formatBackupKey, readBackupKey } from './backup-key.ts'
export { openBlob, sealBlob, sealOfBlob } from './blobs.ts'
export { canReceiveBoxes, openBox, sealBox, unwrapDataKey, wrapDataKey } from './boxes.ts'
export {
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  fromBase64,
  fromBase64Exact,
  fromHex,
  toBase64,
  toBase64Url,
  toHex
} from './bytes.ts'
export type { Bytes, Engine, Keypair, RandomBytes, Signing } from './engine.ts'
export {
  type Cipher,
  dataKeyCipher,
  legacyCipher,
  type Opened,
  openLegacy,
  openWithDataKey,
  sealLegacy,
  sealWithDataKey
} from './envelopes.ts'
export { analyticsId, contentSecretKey, deriveContentKeypair, deriveKey, legacyBlobKey, sessionBlobKey } from './keys.ts'
export {
  formatAccountLink,
  formatRequestLink,
  formatTerminalLink,
  formatWebTerminalLink,
  type PairingLink,
  type RequestLink,
  readPairingLink,
  readRequestLink
} from './links.ts'
export { openAnswer, type PairingAnswer, sealAnswerV1, sealAnswerV2 } from './pairing-answers.ts'
export {
  type Approval,
  type Asker,
  checkCode,
  keyPrint,
  linkSecretLength,
  lockAnswer,
  openAbout,
  openLockedAnswer,
  openToken,
  sealAbout,
  sealToken
} from './pairing-v2.ts'
export { cryptoReady } from './ready.ts'
export {
  type ForServer,
  type Purpose,
  signApproval,
  signChallenge,
  signForServer,
  signInKeypair,
  signingKeypair,
  verifyApproval,
  verifyForServer,
  verifySignature
} from './sign.ts'
