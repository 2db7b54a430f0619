/** The server understood and rejected it. `code` is its `error` text, such as `Session not found`. */
export class Refused extends Error {
  override name = 'Refused'
  readonly status: number
  readonly code: string
  /** Milliseconds that the server asks to wait, if it does. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, code: string, retryAfterMs?: number) {
    super(code)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * There was no answer, or not one from this server: the same request may succeed later. `status` is set
 * for 5xx. Whether the request took effect is unknown.
 */
export class Unreachable extends Error {
  override name = 'Unreachable'
  readonly reason: 'network' | 'timeout' | 'server-error' | 'strange-answer' | 'not-connected'
  readonly status: number | undefined
  /** With a `status`: the server's answer. */
  readonly code: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    reason: Unreachable['reason'],
    {
      status,
      code,
      retryAfterMs,
      cause
    }: { status?: number | undefined; code?: string | undefined; retryAfterMs?: number | undefined; cause?: unknown } = {}
  ) {
    super(says[reason], { cause })
    this.reason = reason
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

const says = {
  network: 'The server cannot be reached.',
  timeout: 'The server did not answer in time.',
  'server-error': 'The server is failing.',
  'strange-answer': 'The server at this address is not an Afield server.',
  'not-connected': 'There is no connection to the server.'
} as const satisfies Record<Unreachable['reason'], string>

/** True if waiting may help: no answer, a failing server, or one that asks to wait (408, 425, 429). */
export function mayRetry(error: unknown): error is Refused | Unreachable {
  return error instanceof Unreachable || (error instanceof Refused && patientStatuses.has(error.status))
}

const patientStatuses = new Set([408, 425, 429])
