import type { HttpResponse } from 'uWebSockets.js'
import { failure } from '../../../protocol/wire/failures.ts'
import type { BytesOut } from '../../../protocol/wire/routes.ts'
import type { Budget } from '../../budget.ts'
import { failureOf, isWorthReport } from '../../refusals.ts'
import type { Logger } from '../../watch/log.ts'
import type { Metrics } from '../../watch/metrics.ts'
import type { SecurityLog } from '../../watch/security-log.ts'
import type { InFlight } from '../listen/in-flight.ts'
import { type AnswerSender, Client, mostAtOnce, sendPieces } from './answer-sender.ts'
import { asOne, type Flow, flowOf, type Headers, notAPage } from './byte-answer.ts'
import { type Reply, replyTo, statusLine } from './reply.ts'
import type { WriteTurn } from './write-turn.ts'

export interface ExchangeDeps {
  corsOrigin: string
  turn: WriteTurn
  answerSender: AnswerSender
  inFlight: Pick<InFlight, 'begin'>
  /** The memory for large unread answers. */
  answers: Budget
  log: Logger
  metrics: Metrics
  securityLog: Pick<SecurityLog, 'rejected'> | undefined
  newRequestId: () => string
  /** Called once for every unexpected error, with its request. */
  onError: (error: unknown, at?: { requestId: string; route: string }) => void
}

/** One request, answered once. */
interface Exchange {
  readonly client: Client
  /**
   * Does nothing if the client has disconnected. `owner` is the calling account, if any. Returns the length
   * of the answer.
   */
  answer(reply: Reply, owner?: string): number
  /** Answers with bytes, or with the part requested by a `Range` header. Returns how many. */
  answerBytes(bytes: BytesOut, range: string): number
  /**
   * Answers with the failure for an error. An unexpected one is reported, and the answer has the id of the
   * report. Returns the length of the answer.
   */
  refuse(error: unknown, owner?: string): number
  /** Aborts if the client disconnects before the answer. */
  gone(): AbortSignal
}

/**
 * `route` is a row of our own tables, never the path itself, which may contain a secret. `address` is the client's, needed only
 * for the security log.
 */
export function openExchange(
  response: HttpResponse,
  { route, origin, address = '', isHead = false }: { route: string; origin: string; address?: string; isHead?: boolean },
  deps: ExchangeDeps
): Exchange {
  const { turn, answerSender, answers, corsOrigin, log, metrics } = deps
  const beganAt = performance.now()
  const leave = deps.inFlight.begin()
  let requestId: string | undefined
  let isOver = false
  const client = new Client()
  // Rarely requested, and expensive.
  let goneSignal: AbortController | undefined

  const end = (status: number | 'gone') => {
    isOver = true
    const ms = performance.now() - beganAt
    metrics.requestAnswered(route, status, ms)
    if (!log.isLevelEnabled('debug')) return
    requestId ??= deps.newRequestId()
    log.debug({ requestId, route, status, ms: Math.round(ms * 100) / 100 }, 'Answered a request')
  }
  response.onAborted(() => {
    if (!isOver) end('gone')
    leave()
    client.left()
    goneSignal?.abort()
  })
  const writeHead = (status: number, headers: Headers) => {
    if (status !== 200) response.writeStatus(statusLine(status))
    if (origin !== '') response.writeHeader('access-control-allow-origin', corsOrigin)
    if (status === 500 && requestId !== undefined) response.writeHeader('x-request-id', requestId)
    for (const [name, value] of headers) response.writeHeader(name, value)
  }
  const send = (text: string, { status, retryAfterS }: Reply, owner: string) => {
    if (isOver) return
    if (text.length > mostAtOnce && !isHead) {
      sendLarge(status, Buffer.from(text), owner)
      return
    }
    end(status)
    const writeWholeHead = () => {
      writeHead(status, json)
      if (retryAfterS !== undefined) response.writeHeader('retry-after', String(retryAfterS))
    }
    if (isHead) {
      answerSender.sendHead(response, client, { writeHead: writeWholeHead, length: Buffer.byteLength(text) })
      leave()
    } else if (status === 408 || status === 413 || status === 503) {
      // A body rejected while it arrived is not read to its end.
      answerSender.sendAsIs(response, client, () => {
        writeWholeHead()
        response.end(text, true)
        leave()
      })
    } else answerSender.send(response, client, { writeHead: writeWholeHead, body: text, owner, onLeft: leave })
  }
  const sendLarge = (status: number, bytes: Buffer, owner: string) => {
    const share = answers.share(owner)
    if (!share.take(bytes.length)) refuse(failure('busy'))
    else flow({ status, headers: json, total: bytes.length, next: at => bytes.subarray(at) }).finally(() => share.giveBack())
  }
  const flow = async ({ status, headers, total, next }: Flow) => {
    end(status)
    try {
      await sendPieces(response, client, { total, next, writeHead: () => writeHead(status, headers) })
    } catch (error) {
      // The data may have been removed since the answer began.
      if (isWorthReport(error)) report(error)
    }
    leave()
  }
  const answer = (reply: Reply, owner = '') => {
    const text = JSON.stringify(reply.body)
    turn.answer(() => send(text, reply, owner))
    return text.length
  }
  const report = (error: unknown) => {
    requestId ??= deps.newRequestId()
    deps.onError(error, { requestId, route })
  }
  const refuse = (error: unknown, owner = '') => {
    const known = failureOf(error)
    if (isWorthReport(error)) report(error)
    if (known) deps.securityLog?.rejected({ address, route, code: known.code })
    return answer(replyTo(known ?? failure('internal')), owner)
  }
  return {
    client,
    refuse,
    gone() {
      goneSignal ??= new AbortController()
      return goneSignal.signal
    },
    answerBytes(bytes, range) {
      const answered = flowOf(bytes, range)
      if (!answered) refuse(failure('range-outside'))
      else turn.answer(() => void (isOver || flow(answered)))
      return answered?.total ?? 0
    },
    answer(reply, owner) {
      try {
        return answer(reply, owner)
      } catch (error) {
        // A reply may be too large to be written as one text.
        refuse(error)
        return 0
      }
    }
  }
}

const json: Headers = asOne([['content-type', 'application/json; charset=utf-8'], ['cache-control', 'no-store'], ...notAPage])
