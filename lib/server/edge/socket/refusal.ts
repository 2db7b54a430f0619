import type { HttpResponse } from 'uWebSockets.js'
import type { AnswerSender, Client } from '../http/answer-sender.ts'
import { type Headers, notAPage } from '../http/byte-answer.ts'

/** What Engine.IO answers to a request it cannot serve. */
export interface EngineRefusal {
  code: number
  message: string
}

export const engineRefusals = {
  unknownTransport: { code: 0, message: 'Transport unknown' },
  unknownSid: { code: 1, message: 'Session ID unknown' },
  badMethod: { code: 2, message: 'Bad handshake method' },
  badRequest: { code: 3, message: 'Bad request' },
  forbidden: { code: 4, message: 'Forbidden' },
  unsupportedVersion: { code: 5, message: 'Unsupported protocol version' }
} as const satisfies Record<string, EngineRefusal>

interface EngineRequest {
  query: URLSearchParams
  method: string
  isUpgrade: boolean
}

/**
 * Undefined for a valid request. `isKnown` says whether a sid is one of ours, `mayOpen` whether new
 * connections are allowed.
 */
export function engineRefusalOf(
  { query, method, isUpgrade }: EngineRequest,
  { isKnown, mayOpen }: { isKnown: (sid: string) => boolean; mayOpen: () => boolean }
): EngineRefusal | undefined {
  const [transport, sid] = [query.get('transport'), query.get('sid')]
  if (query.get('EIO') !== '4') return engineRefusals.unsupportedVersion
  if (transport !== 'websocket' && transport !== 'polling') return engineRefusals.unknownTransport
  if (sid !== null && !isKnown(sid)) return engineRefusals.unknownSid
  if (sid === null && method !== 'GET') return engineRefusals.badMethod
  if (isUpgrade !== (transport === 'websocket')) return engineRefusals.badRequest
  return sid === null && !mayOpen() ? engineRefusals.forbidden : undefined
}

export interface CrossOrigin {
  /** The origin named by the request; empty if none. */
  origin: string
  corsOrigin: string
}

export function refuse(
  response: HttpResponse,
  client: Client,
  answerSender: AnswerSender,
  { refusal, where, status, headers = [] }: { refusal: EngineRefusal; where: CrossOrigin; status?: string | undefined; headers?: Headers }
): void {
  const body = JSON.stringify(refusal)
  const writeHead = () => {
    response.writeStatus(status ?? (refusal.code === engineRefusals.forbidden.code ? '403 Forbidden' : '400 Bad Request'))
    allowOrigin(response, where)
    response.writeHeader('content-type', 'application/json')
    for (const [name, value] of [...notAPage, ...headers]) response.writeHeader(name, value)
  }
  if (status === undefined) answerSender.send(response, client, { writeHead, body })
  else {
    // A body rejected while it arrived is not read to its end.
    answerSender.sendAsIs(response, client, () => {
      writeHead()
      response.end(body, true)
    })
  }
}

export function allowOrigin(response: HttpResponse, { origin, corsOrigin }: CrossOrigin): void {
  if (origin !== '') response.writeHeader('access-control-allow-origin', corsOrigin)
}
