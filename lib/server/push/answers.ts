import { jsonOf } from '../../schema.ts'
import type { SendOutcome } from '../push.ts'

/** What a response means for the request of one channel. */
export function outcomeOf({ status, retryAfterMs }: { status: number; retryAfterMs: number | undefined }): SendOutcome {
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  if (status === 404 || status === 410) return { outcome: 'gone', reason: `HTTP ${status}` }
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return { outcome: 'busy', reason: `HTTP ${status}`, retryAfterMs }
  return { outcome: 'refused', reason: `HTTP ${status}` }
}

/** The fields of a token such as `Ntfy[…]`: base64url of a JSON object between the brackets. Undefined for anything else. */
export function fieldsOf(token: string, prefix: string): unknown {
  const inside = new RegExp(`^${prefix}\\[([A-Za-z0-9_-]+)\\]$`).exec(token)?.[1]
  return inside === undefined ? undefined : jsonOf(Buffer.from(inside, 'base64url').toString())
}
