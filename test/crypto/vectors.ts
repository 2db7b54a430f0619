import {
  analyticsId,
  dataKeyCipher,
  deriveContentKeypair,
  deriveKey,
  engine,
  formatAccountLink,
  formatBackupKey,
  formatTerminalLink,
  formatWebTerminalLink,
  fromBase64,
  fromBase64Exact,
  fromHex,
  legacyBlobKey,
  legacyCipher,
  openAnswer,
  openBlob,
  openBox,
  openLegacy,
  openWithDataKey,
  type RandomBytes,
  readBackupKey,
  readPairingLink,
  sealAnswerV1,
  sealAnswerV2,
  sealBlob,
  sealLegacy,
  sealWithDataKey,
  sessionBlobKey,
  signChallenge,
  signInKeypair,
  toBase64,
  toBase64Url,
  toHex,
  unwrapDataKey,
  verifySignature,
  wrapDataKey
} from '../../lib/crypto/index.ts'
import vectors from '../fixtures/vectors.json' with { type: 'json' }

export interface VectorCheck {
  name: string
  actual: string | undefined
  expected: string | undefined
}

/** Every vector against the engine this was loaded with; runs in Node and in a browser, hence no assertions of a test library. */
export function checkVectors(): VectorCheck[] {
  return [
    ...byteStrings(),
    ...keyTree(),
    ...keypairs(),
    ...legacyEnvelopes(),
    ...dataKeyEnvelopes(),
    ...wrappedDataKeys(),
    ...pairingAnswers(),
    ...attachment(),
    ...textForms()
  ]
}

interface ByteString {
  hex: string
  base64: string
}

function check(name: string, actual: Uint8Array | string | boolean | undefined, expected: string | boolean): VectorCheck {
  const text = actual instanceof Uint8Array ? toHex(actual) : actual?.toString()
  return { name, actual: text, expected: expected.toString() }
}

function bytes({ hex }: ByteString): Uint8Array {
  const decoded = fromHex(hex)
  if (!decoded) throw new TypeError(`not hexadecimal: ${hex}`)
  return decoded
}

/** Gives the listed bytes one after the other, where real use draws them. */
function draws(...values: readonly ByteString[]): RandomBytes {
  const left = values.map(bytes)
  return length => {
    const next = left.shift()
    if (next?.length !== length) throw new TypeError(`${length} bytes were drawn where the vector has ${next?.length}`)
    return new Uint8Array(next)
  }
}

function byteStrings(): VectorCheck[] {
  return everyByteString(vectors, 'vectors').flatMap(({ name, value }) => [
    check(`${name}, to base64`, toBase64(bytes(value)), value.base64),
    check(`${name}, from base64`, fromBase64(value.base64), value.hex),
    check(`${name}, from base64 of a known length`, fromBase64Exact(value.base64, value.hex.length / 2), value.hex),
    check(`${name}, through base64url`, fromBase64(toBase64Url(bytes(value))), value.hex)
  ])
}

function everyByteString(node: unknown, name: string): { name: string; value: ByteString }[] {
  if (typeof node !== 'object' || node === null) return []
  if ('hex' in node && 'base64' in node && typeof node.hex === 'string' && typeof node.base64 === 'string') {
    return [{ name, value: { hex: node.hex, base64: node.base64 } }]
  }
  return Object.entries(node).flatMap(([key, child]) => everyByteString(child, `${name}.${key}`))
}

function keyTree(): VectorCheck[] {
  return Object.entries(vectors.keyTree).flatMap(([name, { usage, path, seed, steps, result }]) => [
    ...steps.map(({ key }, depth) => check(`${name}, at depth ${depth}`, deriveKey(bytes(seed), usage, path.slice(0, depth)), key.hex)),
    check(`${name}, the result`, deriveKey(bytes(seed), usage, path), result.hex)
  ])
}

function keypairs(): VectorCheck[] {
  const { contentKeyPair, signIn, keyTree } = vectors
  const accountSecret = bytes(signIn.masterSecret)
  const signed = signChallenge(accountSecret, bytes(signIn.challenge))
  const claim = { publicKey: bytes(signIn.ed25519PublicKey), message: bytes(signIn.challenge), signature: bytes(signIn.signature) }
  return [
    check('content public key', deriveContentKeypair(accountSecret).publicKey, contentKeyPair.publicKey.hex),
    check('content secret key', deriveContentKeypair(accountSecret).secretKey, contentKeyPair.secretKeyIsFirst32BytesOfThat.hex),
    check(
      'content public key from its secret',
      engine.boxPublicKey(bytes(contentKeyPair.secretKeyIsFirst32BytesOfThat)),
      contentKeyPair.publicKey.hex
    ),
    check('SHA-512 of the content seed', engine.sha512(bytes(contentKeyPair.seed)), contentKeyPair.sha512OfSeed.hex),
    check('sign-in public key', signInKeypair(accountSecret).publicKey, signIn.ed25519PublicKey.hex),
    check('account public key', toHex(signed.publicKey).toUpperCase(), signIn.accountPublicKeyHexUpper),
    check('sign-in signature', signed.signature, signIn.signature.hex),
    check('sign-in signature verifies', verifySignature(claim), true),
    check('sign-in body, key', toBase64(signed.publicKey), signIn.requestBody.publicKey),
    check('sign-in body, challenge', toBase64(bytes(signIn.challenge)), signIn.requestBody.challenge),
    check('sign-in body, signature', toBase64(signed.signature), signIn.requestBody.signature),
    check('analytics id', analyticsId(accountSecret), keyTree.analyticsId.anonIdHex16),
    check('blob key of a legacy session', legacyBlobKey(accountSecret), keyTree.blobKeyLegacySession.result.hex),
    check(
      'blob key of a data-key session',
      sessionBlobKey(bytes(keyTree.blobKeyDataKeySession.seed)),
      keyTree.blobKeyDataKeySession.result.hex
    )
  ]
}

function legacyEnvelopes(): VectorCheck[] {
  return vectors.legacyEnvelope.flatMap(({ key, nonce, plaintextJson, envelope }, index) => {
    const value: unknown = JSON.parse(plaintextJson)
    return [
      check(`legacy envelope ${index}, sealed`, sealLegacy(bytes(key), value, draws(nonce)), envelope.hex),
      check(
        `legacy envelope ${index}, opened`,
        JSON.stringify(openLegacy(bytes(key), bytes(envelope))),
        JSON.stringify({ ok: true, value })
      ),
      check(
        `legacy envelope ${index}, opened as text`,
        JSON.stringify(legacyCipher(bytes(key)).open(envelope.base64)),
        JSON.stringify({ ok: true, value })
      )
    ]
  })
}

function dataKeyEnvelopes(): VectorCheck[] {
  return vectors.dataKeyEnvelope.flatMap(({ key, nonce, plaintext, ciphertext, tag, envelope }, index) => {
    const sealed: unknown = plaintext === '' ? undefined : JSON.parse(plaintext)
    const opened = JSON.stringify({ ok: true, value: sealed ?? null })
    return [
      check(`data-key envelope ${index}, sealed`, sealWithDataKey(bytes(key), sealed, draws(nonce)), envelope.hex),
      check(`data-key envelope ${index}, its parts`, `00${nonce.hex}${ciphertext.hex}${tag.hex}`, envelope.hex),
      check(`data-key envelope ${index}, opened`, JSON.stringify(openWithDataKey(bytes(key), bytes(envelope))), opened),
      check(`data-key envelope ${index}, opened as text`, JSON.stringify(dataKeyCipher(bytes(key)).open(envelope.base64)), opened)
    ]
  })
}

function wrappedDataKeys(): VectorCheck[] {
  const secretKey = bytes(vectors.contentKeyPair.secretKeyIsFirst32BytesOfThat)
  return vectors.wrappedDataKey.flatMap(vector => {
    const { what, dataKey, recipientPublicKey, ephemeralSecretKey, ephemeralPublicKey, nonce, box, dataEncryptionKey, length } = vector
    const wrapped = wrapDataKey(bytes(dataKey), bytes(recipientPublicKey), draws(ephemeralSecretKey, nonce))
    return [
      check(`${what}, wrapped`, wrapped, dataEncryptionKey.hex),
      check(`${what}, its length`, String(wrapped.length), String(length)),
      check(`${what}, the ephemeral key`, engine.boxPublicKey(bytes(ephemeralSecretKey)), ephemeralPublicKey.hex),
      check(
        `${what}, the bare box`,
        engine.boxEasy(bytes(dataKey), bytes(nonce), bytes(recipientPublicKey), bytes(ephemeralSecretKey)),
        box.hex
      ),
      check(`${what}, unwrapped`, unwrapDataKey(bytes(dataEncryptionKey), secretKey), dataKey.hex)
    ]
  })
}

function pairingAnswers(): VectorCheck[] {
  const { v1, v2 } = vectors.authAnswers
  const contentPublicKey = bytes(vectors.contentKeyPair.publicKey)
  const first = openAnswer(bytes(v1.response), bytes(v1.recipientSecretKey))
  const second = openAnswer(bytes(v2.response), bytes(v2.recipientSecretKey))
  return [
    check('asker key', engine.boxPublicKey(bytes(v1.recipientSecretKey)), v1.recipientPublicKey.hex),
    check(
      'answer v1, sealed',
      sealAnswerV1(bytes(v1.payload), bytes(v1.recipientPublicKey), draws(v1.ephemeralSecretKey, v1.nonce)),
      v1.response.hex
    ),
    check('answer v1, opened', first?.version === 1 ? first.accountSecret : undefined, v1.payload.hex),
    check('answer v1, its payload', openBox(bytes(v1.response), bytes(v1.recipientSecretKey)), v1.payload.hex),
    check('answer v1, its length', String(bytes(v1.response).length), String(v1.responseLength)),
    check(
      'answer v2, sealed',
      sealAnswerV2(contentPublicKey, bytes(v2.recipientPublicKey), draws(v2.ephemeralSecretKey, v2.nonce)),
      v2.response.hex
    ),
    check('answer v2, opened', second?.version === 2 ? second.contentPublicKey : undefined, vectors.contentKeyPair.publicKey.hex),
    check('answer v2, its payload', openBox(bytes(v2.response), bytes(v2.recipientSecretKey)), v2.payload.hex),
    check('answer v2, its length', String(bytes(v2.response).length), String(v2.responseLength))
  ]
}

function attachment(): VectorCheck[] {
  const { blobKey, nonce, plaintext, stored } = vectors.attachmentBlob
  return [
    check('attachment, sealed', sealBlob(bytes(plaintext), bytes(blobKey), draws(nonce)), stored.hex),
    check('attachment, opened', openBlob(bytes(stored), bytes(blobKey)), plaintext.hex)
  ]
}

function textForms(): VectorCheck[] {
  const { backupKeys, terminalUrl, webTerminalUrl, accountLinkUrl, forPublicKey, statusQuery } = vectors.textForms
  const readKey = (text: string) => {
    const reading = readBackupKey(text)
    return reading.ok ? reading.secret : undefined
  }
  const linked = (text: string) => {
    const link = readPairingLink(text)
    return link && `${link.type} ${toHex(link.publicKey)}`
  }
  return [
    ...backupKeys.flatMap(({ secret, secretBase64Url, backup }) => [
      check(`backup key ${backup}, written`, formatBackupKey(bytes(secret)), backup),
      check(`backup key ${backup}, read`, readKey(backup), secret.hex),
      check(`backup key ${backup}, as base64url`, toBase64Url(bytes(secret)), secretBase64Url),
      check(`backup key ${backup}, read from base64url`, readKey(secretBase64Url), secret.hex)
    ]),
    check('terminal link', formatTerminalLink(bytes(forPublicKey)), terminalUrl),
    check('terminal link, read', linked(terminalUrl), `terminal ${forPublicKey.hex}`),
    check('web terminal link', formatWebTerminalLink('https://app.happy.engineering', bytes(forPublicKey)), webTerminalUrl),
    check('web terminal link, read', linked(webTerminalUrl), `terminal ${forPublicKey.hex}`),
    check('account link', formatAccountLink(bytes(forPublicKey)), accountLinkUrl),
    check('account link, read', linked(accountLinkUrl), `account ${forPublicKey.hex}`),
    check('status query', `/v1/auth/request/status?publicKey=${encodeURIComponent(toBase64(bytes(forPublicKey)))}`, statusQuery)
  ]
}
