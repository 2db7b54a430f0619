import { STATUS_CODES } from 'node:http'
import { type Failure, failures } from '../../../protocol/wire/failures.ts'

export interface Reply {
  status: number
  body: unknown
  /** When to retry, for clients that know that header. */
  retryAfterS?: number | undefined
}

/** For a failing server, which does not know when that ends. */
const patienceS = 5

/**
 * An error in the shape that clients of the wire know: `{"error"}` from a route, the longer form from the
 * framework around it.
 */
export function replyTo(error: Failure): Reply {
  const { status } = failures[error.code]
  const retryAfterS = error.retryAfterS ?? (status === 503 || status === 507 ? patienceS : undefined)
  return { ...plainReplyTo(error), ...(retryAfterS !== undefined && { retryAfterS }) }
}

function plainReplyTo(error: Failure): Reply {
  const { status, says } = failures[error.code]
  if (error.body !== undefined) return { status, body: error.body }
  switch (error.code) {
    case 'bad-input':
      return { status, body: { error: says, message: error.detail ?? 'Invalid input', statusCode: status } }
    case 'body-too-large':
    case 'bad-content-type':
      return { status, body: { error: says, message: says, statusCode: status } }
    case 'internal':
    case 'storage-failed':
      return { status, body: { error: failures.internal.says, message: 'An unexpected error occurred', statusCode: status } }
    default:
      return { status, body: { error: says } }
  }
}

export function notFound(method: string, path: string): Reply {
  return { status: 404, body: { error: 'Not found', path, method } }
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`
}
