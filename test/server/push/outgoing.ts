import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Ask, Outbound } from '../../../lib/server/push/outbound.ts'
import type { Outgoing } from '../../../lib/server/push.ts'

export const session = v.parse(ids.sessionId, 'session-1')

/** One notice for one channel, as the server has it for its providers. */
export function outgoing(more: Partial<Outgoing> = {}): Outgoing {
  return {
    ...{ token: '', notice: 'n1', kind: 'permission', session, title: 'A title', body: 'A body', preview: undefined, receipt: 'r1' },
    ...{ isSilent: false, what: 'show', lastsMs: 61_999, createdAt: Date.parse('2026-01-15T13:00:00Z'), language: 'en' },
    ...more
  }
}

/** Keeps what a provider asks for, and answers each with this status. */
export function keptOutbound(status = 200): { outbound: Outbound; asked: Omit<Ask, 'signal'>[] } {
  const asked: Omit<Ask, 'signal'>[] = []
  const outbound: Outbound = {
    async send({ signal: _, ...ask }) {
      asked.push(ask)
      return { status, retryAfterMs: undefined, text: '' }
    },
    async close() {}
  }
  return { outbound, asked }
}

export const never = new AbortController().signal
