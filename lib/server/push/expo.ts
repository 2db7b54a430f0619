import { request } from 'undici'
import * as z from 'zod'
import type { Push, PushNotice, PushProvider, PushReceipt } from '../push.ts'

const mostPerRequest = 100
const mostAnswerBytes = 256 * 1024

const answer = z.object({
  data: z.array(
    z.object({
      status: z.enum(['ok', 'error']),
      details: z.object({ error: z.string().optional() }).nullish()
    })
  )
})

/** What an app opens when its notification is touched, by the names existing apps look for. */
const types: Record<PushNotice['kind'], string> = {
  done: 'ready',
  permission: 'permission_request',
  question: 'question',
  error: 'error',
  device: 'device'
}

/** Expo's push service, which the apps of Happy register with. Needs no credentials. */
export function expoPush(baseUrl: string): PushProvider {
  const url = new URL('/--/api/v2/push/send', baseUrl)

  const send: Push = async (notice, tokens, signal) => {
    const batches = Array.from({ length: Math.ceil(tokens.length / mostPerRequest) }, (_, index) =>
      tokens.slice(index * mostPerRequest, (index + 1) * mostPerRequest)
    )
    const receipts: PushReceipt[] = []
    for (const batch of batches) receipts.push(...(await sendBatch(notice, batch, signal)))
    return receipts
  }

  async function sendBatch(notice: PushNotice, tokens: readonly string[], signal: AbortSignal): Promise<PushReceipt[]> {
    const all = (outcome: PushReceipt['outcome']) => tokens.map(token => ({ token, outcome }))
    if (signal.aborted) return all('late')
    try {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(tokens.map(token => messageTo(token, notice))),
        signal
      })
      const text = await textOf(body)
      if (statusCode !== 200) return all('refused')
      const tickets = answer.safeParse(parsed(text))
      if (!tickets.success) return all('refused')
      return tokens.map((token, index) => ({ token, outcome: outcomeOf(tickets.data.data[index]) }))
    } catch {
      return all(signal.aborted ? 'late' : 'unreachable')
    }
  }

  return { knows: token => /^Expo(?:nent)?PushToken\[[^\]]+\]$/.test(token), send }
}

function messageTo(token: string, { kind, session, title, body }: PushNotice) {
  const data = { sessionId: session, kind, url: session === undefined ? '/' : `/session/${session}`, type: types[kind] }
  return { to: token, title, body, data, sound: 'default', channelId: 'messages' }
}

function outcomeOf(ticket: z.infer<typeof answer>['data'][number] | undefined): PushReceipt['outcome'] {
  if (ticket?.status === 'ok') return 'delivered'
  return ticket?.details?.error === 'DeviceNotRegistered' ? 'gone' : 'refused'
}

// The answer of a service is small; what is not small is none.
async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > mostAnswerBytes) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
