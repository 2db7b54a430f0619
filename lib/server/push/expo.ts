import type { Dispatcher } from 'undici'
import * as v from '../../schema.ts'
import { noAnswer, noAnswerInTime, type Outgoing, type PushProvider, type SendOutcome } from '../push.ts'
import { outcomeOf } from './answers.ts'

const mostAnswerBytes = 256 * 1024

const error = v.nullish(v.object({ error: v.optional(v.text(64)) }))
const ticket = v.object({ status: v.picklist(['ok', 'error']), id: v.optional(v.text(100)), details: error })
const tickets = v.object({ data: v.array(ticket) })
const receipts = v.object({ data: v.record(v.string(), v.object({ status: v.picklist(['ok', 'error']), details: error })) })

/** What an app opens when its notification is tapped, by the names existing apps look for. */
const types: Record<Outgoing['kind'], string> = {
  done: 'ready',
  permission: 'permission_request',
  question: 'question',
  error: 'error',
  failed: 'error',
  silent: 'error',
  machine: 'error',
  device: 'device',
  test: 'ready',
  digest: 'ready'
}

/**
 * Expo's push service, with which Happy's apps register. Needs no credentials; a project may require an
 * access token.
 */
export function expoPush(baseUrl: string, accessToken?: string): PushProvider {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` })
  }

  async function ask(path: string, body: unknown, signal: AbortSignal) {
    const { request } = await import('./undici.ts')
    const answer = await request(new URL(path, baseUrl), { method: 'POST', headers, body: JSON.stringify(body), signal })
    return { status: answer.statusCode, retryAfterMs: retryAfter(answer.headers['retry-after']), text: await textOf(answer.body) }
  }

  return {
    kind: 'expo',
    mostAtOnce: 100,
    acknowledges: false,
    clears: false,
    knows: token => /^Expo(?:nent)?PushToken\[[^\]]+\]$/.test(token),
    flawOf: () => undefined,
    async send(outgoing, signal) {
      const all = (outcome: SendOutcome) => outgoing.map(() => outcome)
      try {
        const answer = await ask('/--/api/v2/push/send', outgoing.map(messageTo), signal)
        if (answer.status !== 200) return all(outcomeOf(answer))
        const read = v.safeParse(tickets, v.jsonOf(answer.text))
        // Someone else may answer in its place, such as a captive portal: that is not a rejection.
        if (!read.success) return all({ outcome: 'busy', reason: 'unreadable answer' })
        return outgoing.map((_, index) => ofTicket(read.data.data[index]))
      } catch {
        return all({ outcome: 'unreachable', reason: signal.aborted ? noAnswerInTime : noAnswer })
      }
    },
    async look(ids, signal) {
      try {
        const answer = await ask('/--/api/v2/push/getReceipts', { ids }, signal)
        const read = v.safeParse(receipts, v.jsonOf(answer.text))
        if (answer.status !== 200 || !read.success) return ids.map(() => ({ outcome: 'busy', retryAfterMs: answer.retryAfterMs }))
        return ids.map(id => ofReceipt(read.data.data[id]))
      } catch {
        return ids.map(() => ({ outcome: 'unreachable' }))
      }
    }
  }
}

function messageTo({ token, kind, session, title, body, isSilent, lastsMs }: Outgoing) {
  const data = { sessionId: session, kind, url: session === undefined ? '/' : `/session/${session}`, type: types[kind] }
  return { to: token, title, body, data, sound: isSilent ? null : 'default', channelId: 'messages', ttl: Math.floor(lastsMs / 1000) }
}

function ofTicket(given: v.InferOutput<typeof ticket> | undefined): SendOutcome {
  if (given === undefined) return { outcome: 'busy', reason: 'no ticket' }
  if (given.status === 'ok') return { outcome: 'accepted', ...(given.id !== undefined && { ticket: given.id }) }
  return ofError(given.details?.error)
}

function ofReceipt(given: v.InferOutput<typeof receipts>['data'][string] | undefined): SendOutcome {
  return given?.status === 'error' ? ofError(given.details?.error) : { outcome: 'accepted' }
}

function ofError(name = 'refused'): SendOutcome {
  if (name === 'DeviceNotRegistered') return { outcome: 'gone', reason: name }
  if (name === 'MessageRateExceeded') return { outcome: 'busy', reason: name }
  return { outcome: 'refused', reason: name }
}

function retryAfter(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined
}

// The service's response is small; a larger one is not its own.
async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > mostAnswerBytes) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
