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
  /** What the token of the caller has to allow; `none` asks for no token. */
  auth: Auth
  /** Largest body in bytes; more is refused while it is still arriving. */
  limit: number
  /** True for routes that existing clients do not know. */
  ours: boolean
  /** True when the answer holds addresses of this server, which then begin as the caller's own address of it. */
  tellsAddresses: boolean
  params: Params
  query: Query
  body: Body
  reply: Reply
  /** The body of a 409 that says what is there instead. */
  conflict?: v.GenericSchema
}

/** Bytes on their way in: read once, in order. More arrive as fast as they are read. */
export interface BytesIn extends AsyncIterable<Uint8Array> {
  /** Of what was read so far only so many bytes are still in memory. */
  keep(bytes: number): void
}

/** Bytes that wait to be read, a piece at a time and from any place on, as fast as the other side takes them. */
export interface BytesOut {
  size: number
  /** Names exactly these bytes, for ever. */
  tag: string
  /** A piece that begins at `at`, which lies before the end; never empty. */
  readFrom(at: number): Promise<Uint8Array>
}

/** In the place of a schema: the body is not JSON, and the handler reads it while it arrives. */
export const bytesIn = v.custom<BytesIn>(() => true)
/** In the place of a schema: the answer is not JSON. A request may ask for a range of it. */
export const bytesOut = v.custom<BytesOut>(() => true)

export const kib = 1024
export const ok = v.object({ success: v.literal(true) })
/** Milliseconds since 1970, in a query. */
export const milliseconds = digits(16, 'a whole number of milliseconds')
export const wholeNumber = digits(10)

/** A place among the messages of a session. Existing clients name ends that no session reaches. */
export const seqInQuery = v.pipe(digits(16), v.safeInteger('a whole number'))

/** A number as a query has it. */
export function digits(most: number, wish = 'a whole number') {
  return v.pipe(
    v.string(),
    v.regex(new RegExp(`^\\d{1,${most}}$`), wish),
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
  // The defaults stand in exactly where the type parameter took its default.
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
