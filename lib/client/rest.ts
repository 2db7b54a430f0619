import type { z } from 'zod'
import type { ReplyOf, RouteName, routes } from '../protocol/wire/routes.ts'

/** As much of `fetch` as is used here; the global one and undici's both fit. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal }
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>

/** Parts that the route does not need may be left out. Query values are written as text. */
export type RequestOf<Name extends RouteName> = Part<'params', z.input<(typeof routes)[Name]['params']>> &
  Part<'body', z.input<(typeof routes)[Name]['body']>> & {
    query?: { [Field in keyof z.input<(typeof routes)[Name]['query']>]?: string | number }
  }

type Part<Key extends string, Value> = [Record<string, never>] extends [Value] ? { [K in Key]?: Value } : { [K in Key]: Value }

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** 30 s unless told. */
  timeoutMs?: number | undefined
}

export interface Rest {
  readonly server: string
  /**
   * One request of the route table, its reply checked by the schema of the route.
   * Rejects with `Refused`, with `Unreachable`, or with the reason of `signal`.
   */
  call<Name extends RouteName>(name: Name, request: RequestOf<Name>, options?: CallOptions): Promise<ReplyOf<Name>>
}

export interface RestOptions {
  /** Such as `https://home.example.org`, with or without a slash at its end. */
  server: string
  /** Needed for every route but those of login and pairing. */
  token?: string | undefined
  fetch: Fetch
  /** The live connection of this client, so that its own posts do not come back to it: `() => socket.connectionId`. */
  connectionId?: (() => string | undefined) | undefined
}

export declare function createRest(options: RestOptions): Rest

/** The server understood and said no. `code` is its `error` text, such as `Session not found`. */
export declare class Refused extends Error {
  readonly status: number
  readonly code: string
  /** Milliseconds the server asks to wait, when it says so. */
  readonly retryAfterMs: number | undefined
  constructor(status: number, code: string, retryAfterMs?: number)
}

/**
 * There was no answer, or none of this server: the same request may succeed later. `status` is there for 5xx. Whether the request
 * took effect is unknown.
 */
export declare class Unreachable extends Error {
  readonly reason: 'network' | 'timeout' | 'server-error' | 'strange-answer' | 'not-connected'
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  constructor(reason: Unreachable['reason'], options?: { status?: number; retryAfterMs?: number; cause?: unknown })
}

/** True when waiting may help: no answer, a server in trouble, or one that asks for patience (408, 425, 429). */
export declare function mayRetry(error: unknown): error is Refused | Unreachable
