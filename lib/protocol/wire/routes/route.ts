import * as v from '../../../schema.ts'
import type { Need } from '../scopes.ts'

export interface Route<
  Params extends v.GenericSchema,
  Query extends v.GenericSchema,
  Body extends v.GenericSchema,
  Reply extends v.GenericSchema,
  Auth extends 'none' | Need = 'none' | Need
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments that begin with a colon are parameters, percent-decoded. */
  path: string
  /** The scope that the caller's token needs; `none` requires no token. */
  auth: Auth
  /** Largest body in bytes; a larger one is rejected while it is arriving. */
  limit: number
  /** True for routes that existing clients do not know. */
  ours: boolean
  /** True if the answer contains addresses of this server, which then start with the address that the caller used. */
  tellsAddresses: boolean
  params: Params
  query: Query
  body: Body
  reply: Reply
  /** The body of a 409, with the stored value. */
  conflict?: v.GenericSchema
}

/** An incoming byte stream: read once, in order. It arrives as fast as it is read. */
export interface BytesIn extends AsyncIterable<Uint8Array> {
  /** Reports that only this many of the bytes read are still in memory. */
  keep(bytes: number): void
}

/** Bytes to send, read a piece at a time from any offset, as fast as the other side accepts them. */
export interface BytesOut {
  size: number
  /** Identifies exactly these bytes, permanently. */
  tag: string
  /** A piece that begins at `at`, which is before the end; never empty. */
  readFrom(at: number): Promise<Uint8Array>
}

/** In place of a schema: the body is not JSON, and the handler reads it while it arrives. */
export const bytesIn = v.custom<BytesIn>(() => true)
/** In place of a schema: the answer is not JSON. A request may ask for a range of it. */
export const bytesOut = v.custom<BytesOut>(() => true)

export const kib = 1024
export const ok = v.object({ success: v.literal(true) })
/** Milliseconds since 1970, in a query. */
export const milliseconds = digits(16, 'is not a whole number of milliseconds')
export const wholeNumber = digits(10)

/** A position among the messages of a session. Existing clients send ends that no session reaches. */
export const seqInQuery = v.pipe(digits(16), v.safeInteger('is not a whole number'))

/** A number in a query. */
export function digits(most: number, wrong = 'is not a whole number') {
  return v.pipe(
    v.string(),
    v.regex(new RegExp(`^\\d{1,${most}}$`), wrong),
    v.transform(text => Number(text))
  )
}

const nothing = v.object({})

export function route<
  Reply extends v.GenericSchema,
  Params extends v.GenericSchema = typeof nothing,
  Query extends v.GenericSchema = typeof nothing,
  Body extends v.GenericSchema = typeof nothing,
  Auth extends 'none' | Need = 'none' | Need
>(row: {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  auth: Auth
  limit: number
  ours?: boolean
  tellsAddresses?: boolean
  params?: Params
  query?: Query
  body?: Body
  reply: Reply
  conflict?: v.GenericSchema
}): Route<Params, Query, Body, Reply, Auth> {
  // The defaults are exactly those of the type parameters.
  const absent = nothing as v.GenericSchema
  return {
    ours: false,
    tellsAddresses: false,
    ...row,
    params: row.params ?? (absent as Params),
    query: row.query ?? (absent as Query),
    body: row.body ?? (absent as Body)
  }
}
