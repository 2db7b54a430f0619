import { toBase64Url } from '../../lib/crypto/index.ts'
import { base64Of } from '../core/base64.ts'
import type { Live } from '../model/account/live.ts'
import { type Channel, notificationsOf, removeChannel, sendTest, type Tried } from '../model/notifications/notifications.ts'

type Link = Pick<Live, 'rest'>

/** A channel that was added just now, and what came of a test; undefined when nobody said. */
export interface Added {
  readonly channel: Channel
  readonly tried: Tried | undefined
}

/** A topic that nobody guesses: whoever knows its name can read it. */
export function newTopic(): string {
  return `afield-${toBase64Url(crypto.getRandomValues(new Uint8Array(15)))}`
}

/** Where the ntfy app finds a topic. */
export function ntfyLink(url: string): string | undefined {
  const { protocol, host, pathname } = URL.parse(url) ?? {}
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  return `ntfy://${host}${pathname}${protocol === 'http:' ? '?secure=false' : ''}`
}

/** An address as typed, with a topic where it names none; undefined for what is no web address. Without a topic it stays as it is. */
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

/** A webhook and the secret that its requests are signed with, which is told only now. */
export function newWebhookSecret(): string {
  return `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(32)))}`
}

export async function addWebhook(link: Link, hook: { url: string; secret: string }): Promise<Added | undefined> {
  return add(link, 'webhook', { ...hook })
}

/** Adds it and sends it a test: only that tells whether the address can be reached. */
async function add(link: Link, kind: 'ntfy' | 'webhook', fields: Record<string, string>): Promise<Added | undefined> {
  const prefix = kind === 'ntfy' ? 'Ntfy' : 'Webhook'
  const token = `${prefix}[${toBase64Url(new TextEncoder().encode(JSON.stringify({ ...fields, app: location.origin })))}]`
  await link.rest.call('addPushToken', { body: { token } })
  const book = notificationsOf(link)
  await book.read()
  const now = book.reading.peek()
  const own = now.type === 'told' ? now.channels.filter(channel => channel.isOwn && channel.kind === kind) : []
  const channel = own.toSorted((a, b) => b.updatedAt - a.updatedAt)[0]
  if (!channel) return undefined
  const tried = await sendTest(link, channel.id).catch(() => undefined)
  await book.read()
  return { channel, tried }
}

/** Removes it. Resolves to what puts it back, where that can be done from here. */
export async function takeChannelAway(link: Link, channel: Channel): Promise<(() => Promise<void>) | undefined> {
  const token = await tokenOf(link, channel)
  await removeChannel(link, channel)
  return token === undefined
    ? undefined
    : async () => {
        await link.rest.call('addPushToken', { body: { token } })
      }
}

// Where channels of other devices lead is not told.
async function tokenOf({ rest }: Link, { id, isOwn }: Channel): Promise<string | undefined> {
  if (!isOwn) return undefined
  return (await rest.call('listPushTokens', {})).tokens.find(each => each.id === id)?.token
}
