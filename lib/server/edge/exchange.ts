import type { HttpResponse } from 'uWebSockets.js'
import { Failure, failure } from '../../protocol/wire/failures.ts'
import { OverQuota } from '../../store/quotas.ts'
import { RowDamaged, StoreBroken, StoreBusy, StoreFull } from '../../store/store.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type Reply, replyTo, statusLine } from './reply.ts'
import type { Turn } from './turn.ts'

/** When storage that is full, held or failed is worth another try. */
const retryAfterSeconds = '5'

export interface ExchangeDeps {
  corsOrigin: string
  turn: Turn
  log: Logger
  metrics: Metrics
  newRequestId: () => string
  /** Told once of every unexpected error, with the request it met. */
  onError: (error: unknown, at?: { requestId: string; route: string }) => void
}

/** One request that is answered once. */
export interface Exchange {
  /** Does nothing when the client has gone. Returns how long the answer is. */
  answer(reply: Reply): number
  /** Answers with the refusal that an error is. An unexpected one is reported, and the answer carries the id of the report. */
  refuse(error: unknown): void
  /** Aborts when the client has gone before it was answered. */
  gone(): AbortSignal
}

/** `route` is a row of our own tables, never the path itself, which may carry a secret. */
export function openExchange(
  response: HttpResponse,
  { route, origin, isHead = false }: { route: string; origin: string; isHead?: boolean },
  deps: ExchangeDeps
): Exchange {
  const { turn, corsOrigin, log, metrics } = deps
  const beganAt = performance.now()
  let requestId: string | undefined
  let isOver = false
  // Few ask for it, and it is dear.
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
    goneSignal?.abort()
  })
  const send = (status: number, text: string, retryAfterS: number | undefined) => {
    if (isOver) return
    end(status)
    response.cork(() => {
      if (status !== 200) response.writeStatus(statusLine(status))
      if (origin !== '') response.writeHeader('access-control-allow-origin', corsOrigin)
      if (retryAfterS !== undefined) response.writeHeader('retry-after', String(retryAfterS))
      if (status === 500 && requestId !== undefined) response.writeHeader('x-request-id', requestId)
      response.writeHeader('content-type', 'application/json; charset=utf-8').writeHeader('cache-control', 'no-store')
      if (status === 503 || status === 507) response.writeHeader('retry-after', retryAfterSeconds)
      // What was refused while it arrived is not read to its end.
      if (isHead) response.endWithoutBody(Buffer.byteLength(text))
      else response.end(text, status === 413)
    })
  }
  const answer = ({ status, body, retryAfterS }: Reply) => {
    const text = JSON.stringify(body)
    turn.answer(() => send(status, text, retryAfterS))
    return text.length
  }
  const refuse = (error: unknown) => {
    const known = refusalOf(error)
    if (!known || error instanceof RowDamaged) {
      requestId ??= deps.newRequestId()
      deps.onError(error, { requestId, route })
    }
    answer(replyTo(known ?? failure('internal')))
  }
  return {
    refuse,
    gone() {
      goneSignal ??= new AbortController()
      return goneSignal.signal
    },
    answer(reply) {
      try {
        return answer(reply)
      } catch (error) {
        // A reply may be too large to be written as one text.
        refuse(error)
        return 0
      }
    }
  }
}

function refusalOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  if (error instanceof OverQuota) return failure(error.quota === 'kvValueBytes' ? 'body-too-large' : 'quota-reached')
  if (error instanceof StoreFull) return failure('storage-full')
  if (error instanceof RowDamaged) return failure('row-damaged')
  if (error instanceof StoreBusy) return failure('storage-busy')
  if (error instanceof StoreBroken) return failure('storage-failed')
  return undefined
}
