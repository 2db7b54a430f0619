import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { pathOf } from '../listen/routes.ts'
import { type AnswerSender, Client } from './answer-sender.ts'
import { notAPage } from './byte-answer.ts'

/** Happy's app accepts an address as a server if these words are at its root. */
const words = 'Welcome to Happy Server!'

/**
 * True if the root was requested by a client that wants no page, and answered. Any page may read it: it is
 * the same for everyone.
 */
export function welcome(
  response: HttpResponse,
  request: HttpRequest,
  { corsOrigin, answerSender }: { corsOrigin: string; answerSender: AnswerSender }
): boolean {
  const method = request.getCaseSensitiveMethod()
  if (pathOf(request) !== '/' || (method !== 'GET' && method !== 'HEAD')) return false
  if (request.getHeader('accept').includes('text/html')) return false
  const client = new Client()
  response.onAborted(() => client.left())
  const writeHead = () => {
    response
      .writeStatus('200 OK')
      .writeHeader('content-type', 'text/plain; charset=utf-8')
      .writeHeader('cache-control', 'no-cache')
      .writeHeader('vary', 'accept')
      .writeHeader('access-control-allow-origin', corsOrigin)
    for (const [name, value] of notAPage) response.writeHeader(name, value)
  }
  if (method === 'GET') answerSender.send(response, client, { writeHead, body: words })
  else answerSender.sendHead(response, client, { writeHead, length: words.length })
  return true
}
