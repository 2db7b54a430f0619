import { createHmac } from 'node:crypto'
import * as v from '../../schema.ts'
import type { PushProvider } from '../push.ts'
import { appAddress, httpChannel, pageOf, webAddress } from './http-channel.ts'
import type { Outbound } from './outbound.ts'

const fields = v.strictObject({
  url: webAddress,
  /** `whsec_` and base64 of 24 to 64 bytes. */
  secret: v.pipe(v.string(), v.regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'is not a secret that begins with whsec_')),
  app: appAddress
})

/**
 * A JSON request to the person's own address, signed as specified by https://www.standardwebhooks.com:
 * HMAC-SHA256 over id, time and body.
 */
export function webhookPush(outbound: Outbound, now: () => number): PushProvider {
  return httpChannel(outbound, {
    kind: 'webhook',
    prefix: 'Webhook',
    fields,
    clears: true,
    ask({ url, secret, app }, outgoing) {
      const { notice, kind, session, title, body, isSilent, what, createdAt } = outgoing
      const data = { id: notice, kind, session, title, body, silent: isSilent, url: pageOf(app, outgoing) }
      const text = JSON.stringify({
        type: what === 'show' ? 'notification' : 'notification.settled',
        timestamp: new Date(createdAt).toISOString(),
        data: what === 'show' ? data : { id: notice, kind, session }
      })
      const id = `${notice}-${what}`
      const timestamp = String(Math.floor(now() / 1000))
      const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(`${id}.${timestamp}.${text}`)
      return {
        url,
        headers: {
          'Content-Type': 'application/json',
          'Webhook-Id': id,
          'Webhook-Timestamp': timestamp,
          'Webhook-Signature': `v1,${mac.digest('base64')}`
        },
        body: text
      }
    }
  })
}
