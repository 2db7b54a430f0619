import * as v from '../../schema.ts'
import type { Outgoing, PushProvider } from '../push.ts'
import { appAddress, httpChannel, pageOf, webAddress } from './http-channel.ts'
import type { Outbound } from './outbound.ts'

const fields = v.strictObject({
  /** The address of the topic, such as https://ntfy.sh/mine. */
  url: webAddress,
  /** An access token of the ntfy server. */
  token: v.optional(v.pipe(v.string(), v.maxLength(200), v.regex(/^[\x21-\x7e]+$/, 'is not an access token'))),
  app: appAddress
})

/** https://docs.ntfy.sh/publish/ — the topic's own server delivers to phones, watches and desktops. */
export function ntfyPush(outbound: Outbound): PushProvider {
  return httpChannel(outbound, {
    kind: 'ntfy',
    prefix: 'Ntfy',
    fields,
    clears: true,
    ask({ url, token, app }, outgoing) {
      const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` }
      const sequence = sequenceOf(outgoing)
      if (outgoing.what === 'clear') return { url: `${url.replace(/\/$/, '')}/${sequence}`, method: 'DELETE', headers: authorization }
      const page = pageOf(app, outgoing)
      return {
        url,
        headers: {
          ...authorization,
          'Content-Type': 'text/plain; charset=utf-8',
          Title: encodedWord(outgoing.title),
          Priority: String(priorityOf(outgoing)),
          Tags: tags[outgoing.kind],
          // A notification with the same number replaces the previous one.
          'X-Sequence-ID': sequence,
          ...(page !== undefined && {
            Click: page,
            Actions: JSON.stringify([{ action: 'view', label: openWord[outgoing.language], url: page }])
          })
        },
        body: outgoing.body
      }
    }
  })
}

function sequenceOf({ session, notice }: Outgoing): string {
  return (session ?? notice).replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, 64)
}

// Headers are bytes: ntfy decodes RFC 2047 for anything but ASCII.
function encodedWord(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** From 1 to 5; from 4 on phones ring for longer, 2 is silent. */
function priorityOf({ kind, isSilent }: Outgoing): number {
  if (isSilent) return 2
  return kind === 'permission' || kind === 'question' ? 4 : 3
}

const openWord = { en: 'Open', zh: '打开' }

const tags: Record<Outgoing['kind'], string> = {
  done: 'white_check_mark',
  permission: 'raised_hand',
  question: 'speech_balloon',
  error: 'warning',
  failed: 'warning',
  silent: 'hourglass',
  machine: 'electric_plug',
  device: 'key',
  test: 'wave',
  digest: 'inbox_tray'
}
