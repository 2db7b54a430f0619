import { toBase64Url } from '../../lib/crypto/index.ts'
import { base64Of } from '../core/base64.ts'
import type { Live } from '../model/account/live.ts'
import { type Channel, notificationsOf, removeChannel, sendTest, type Tried } from '../model/notifications/notifications.ts'

type Link = Pick<Live, 'rest'>

/** A channel that was just added, and the result of its test; undefined if there is none. */
export interface Added {
  readonly channel: Channel
  readonly tried: Tried | undefined
}

/** An unguessable topic: anyone who knows its name can read it. */
export function newTopic(): string {
  return `afield-${toBase64Url(crypto.getRandomValues(new Uint8Array(15)))}`
}

/** The address that opens a topic in the ntfy app. */
export function ntfyLink(url: string): string | undefined {
  const { protocol, host, pathname } = URL.parse(url) ?? {}
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  return `ntfy://${host}${pathname}${protocol === 'http:' ? '?secure=false' : ''}`
}

/** A typed address, with `topic` added if it has none and one is given; undefined if it is not a web address. */
export function readAddress(typed: string, topic?: string): string | undefined {
  const url = URL.parse(typed.trim())
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  if (topic !== undefined && url.pathname === '/') url.pathname = `/${topic}`
  return url.href
}

export async function addNtfy(link: Link, topic: { url: string; token: string }): Promise<Added | undefined> {
  const { url, token } = topic
  return add(link, 'ntfy', { url, ...(token !== '' && { token }) })
}

/** A webhook and the secret that signs its requests, which is shown only now. */
export function newWebhookSecret(): string {
  return `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(32)))}`
}

export async function addWebhook(link: Link, hook: { url: string; secret: string }): Promise<Added | undefined> {
  return add(link, 'webhook', { ...hook })
}

/** Adds a channel and sends a test: only that shows whether the address can be reached. */
async function add(link: Link, kind: 'ntfy' | 'webhook', fields: Record<string, string>): Promise<Added | undefined> {
  const prefix = kind === 'ntfy' ? 'Ntfy' : 'Webhook'
  const token = `${prefix}[${toBase64Url(new TextEncoder().encode(JSON.stringify({ ...fields, app: location.origin })))}]`
  await link.rest.call('addPushToken', { body: { token } })
  const book = notificationsOf(link)
  await book.read()
  const now = book.reading.peek()
  const own = now.type === 'loaded' ? now.channels.filter(channel => channel.isOwn && channel.kind === kind) : []
  const channel = own.toSorted((a, b) => b.updatedAt - a.updatedAt)[0]
  if (!channel) return undefined
  const tried = await sendTest(link, channel.id).catch(() => undefined)
  await book.read()
  return { channel, tried }
}

/** Removes a channel. Resolves to a function that restores it, if that is possible from here. */
export async function removeWithUndo(link: Link, channel: Channel): Promise<(() => Promise<void>) | undefined> {
  const token = await tokenOf(link, channel)
  await removeChannel(link, channel)
  return token === undefined
    ? undefined
    : async () => {
        await link.rest.call('addPushToken', { body: { token } })
      }
}

// The server does not reveal the addresses of other devices' channels.
async function tokenOf({ rest }: Link, { id, isOwn }: Channel): Promise<string | undefined> {
  if (!isOwn) return undefined
  return (await rest.call('listPushTokens', {})).tokens.find(each => each.id === id)?.token
}
