import { createECDH, createHash } from 'node:crypto'
import * as v from '../../schema.ts'
import type { Outgoing, PushProvider } from '../push.ts'
import { appAddress, httpChannel, pageOf, webAddress } from './http-channel.ts'
import type { Ask, Outbound } from './outbound.ts'

/** The minimum size that a push service accepts, RFC 8030; less the overhead of RFC 8188 encryption. */
const mostPayloadBytes = 3_993

const subscription = {
  endpoint: webAddress,
  keys: v.strictObject({
    p256dh: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{87}=?$/, 'is not a P-256 key')),
    auth: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}={0,2}$/, 'is not a secret of 16 bytes'))
  }),
  app: appAddress
}

/** The key pair by which push services identify this server, RFC 8292; both as base64url. */
export interface VapidKeys {
  publicKey: string
  privateKey: string
}

interface Signer {
  vapid: VapidKeys
  /** Where a push service may reach the operator: a `mailto:` or `https:` address. */
  contact: string
}

/** Web Push of the browsers, RFC 8030, 8291 and 8292: only the receiving device can decrypt the payload. */
export function webPush(outbound: Outbound, signer: Signer): PushProvider {
  return httpChannel(outbound, {
    kind: 'web-push',
    prefix: 'WebPush',
    fields: v.strictObject(subscription),
    acknowledges: true,
    ask: (to, outgoing) => (outgoing.what === 'show' ? sealedFor(to, signer, outgoing) : undefined)
  })
}

/** UnifiedPush, whose servers implement Web Push: for apps that register with their own distributor. */
export function unifiedPush(outbound: Outbound, signer: Signer): PushProvider {
  return httpChannel(outbound, {
    kind: 'unified-push',
    prefix: 'UnifiedPush',
    fields: v.strictObject(subscription),
    acknowledges: true,
    clears: true,
    ask: (to, outgoing) => sealedFor(to, signer, outgoing)
  })
}

/** The 32 bytes of a P-256 private key and its subject; `fresh` creates one. */
export function vapidKeysOf(secret: Uint8Array): VapidKeys {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(secret)
  return { publicKey: pair.getPublicKey('base64url'), privateKey: Buffer.from(secret).toString('base64url') }
}

export function freshVapidSecret(): Uint8Array {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  // Leading zeros are omitted there, but not in a JWK.
  return Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex')
}

async function sealedFor(
  { endpoint, keys, app }: { endpoint: string; keys: { p256dh: string; auth: string }; app?: string | undefined },
  { vapid, contact }: Signer,
  outgoing: Outgoing
): Promise<Omit<Ask, 'signal'>> {
  // Loaded with the first request: most servers never send one.
  const { generateRequestDetails } = await import('./web-push-request.ts')
  const { headers, body } = generateRequestDetails({ endpoint, keys }, payloadOf(outgoing, app), {
    vapidDetails: { subject: contact, ...vapid },
    contentEncoding: 'aes128gcm',
    TTL: Math.max(0, Math.floor(outgoing.lastsMs / 1000)),
    urgency: urgencyOf(outgoing),
    topic: topicOf(outgoing)
  })
  const plain = Object.entries(headers).filter(([name]) => !/^content-length$/i.test(name))
  return { url: endpoint, headers: Object.fromEntries(plain.map(([name, value]) => [name, String(value)])), body }
}

/**
 * In the form of Declarative Web Push: a browser that supports it shows this fixed text if our worker
 * fails. `data` is for the worker, which replaces it with the decrypted text.
 */
function payloadOf(outgoing: Outgoing, app: string | undefined): string {
  const { notice, kind, session, title, body, preview, receipt, isSilent, what, createdAt, language } = outgoing
  const written = (sealed: string | undefined) =>
    JSON.stringify({
      web_push: 8030,
      notification: {
        title,
        body,
        navigate: pageOf(app, outgoing) ?? '/',
        tag: session ?? notice,
        lang: language,
        silent: isSilent,
        data: { v: 1, what, notice, kind, session, receipt, createdAt, preview: sealed }
      },
      mutable: true
    })
  const whole = written(preview)
  return Buffer.byteLength(whole) <= mostPayloadBytes ? whole : written(undefined)
}

function urgencyOf({ kind, isSilent }: Outgoing): 'high' | 'normal' | 'low' {
  if (isSilent) return 'low'
  return kind === 'done' || kind === 'machine' || kind === 'digest' ? 'normal' : 'high'
}

// The push service keeps only the newest of one topic. At most 32 base64url characters.
function topicOf({ session, notice }: Outgoing): string {
  return createHash('sha256')
    .update(session ?? notice)
    .digest('base64url')
    .slice(0, 32)
}
