/** Why a request was not made; the message never contains the address, which is its owner's secret. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed'
}

interface Answer {
  status: number
  /** In milliseconds, from `Retry-After`; undefined if absent or unreadable. */
  retryAfterMs: number | undefined
  text: string
}

export interface Ask {
  url: string
  method?: 'POST' | 'PUT' | 'DELETE'
  headers: Record<string, string>
  body?: string | Buffer | undefined
  signal: AbortSignal
}

/** Requests to addresses that people chose: only where `Destinations` allows, without following redirects. */
export interface Outbound {
  /** Rejects with `NotAllowed`, or as undici does without a response. */
  send(ask: Ask): Promise<Answer>
  close(): Promise<void>
}

/** Opens it with the first request: its HTTP client would be a quarter of the work at the start of a server. */
export function openWithFirstRequest(open: () => Promise<Outbound>): Outbound {
  let opening: Promise<Outbound> | undefined
  return {
    async send(ask) {
      opening ??= open()
      return (await opening).send(ask)
    },
    async close() {
      await (await opening)?.close()
    }
  }
}

/** An address as people type it. Throws `NotAllowed` unless it is a plain https or http URL. */
export function readTarget(text: string): URL {
  const target = URL.canParse(text) ? new URL(text) : undefined
  if (target === undefined || !['https:', 'http:'].includes(target.protocol)) throw new NotAllowed('That is no web address.')
  if (target.username !== '' || target.password !== '') throw new NotAllowed('An address must not carry a password.')
  return target
}
