import type { BytesOut } from '../../../protocol/wire/routes.ts'
import { readRange } from './range.ts'

export type Headers = readonly (readonly [name: string, value: string])[]

/** An answer sent in pieces. */
export interface Flow {
  status: number
  headers: Headers
  total: number
  /** The piece that begins at `at`; never empty. */
  next: (at: number) => Uint8Array | Promise<Uint8Array>
}

/** The bytes, or the part requested by a `Range` header; undefined if there is no such part. */
export function flowOf({ size, tag, readFrom }: BytesOut, range: string): Flow | undefined {
  const asked = readRange(range, size)
  if (asked === 'outside') return undefined
  const headers: Headers = [...inert, ['etag', `"${tag}"`]]
  if (asked === 'whole') return { status: 200, headers, total: size, next: readFrom }

  const { start, end } = asked
  return {
    status: 206,
    headers: [...headers, ['content-range', `bytes ${start}-${end - 1}/${size}`]],
    total: end - start,
    next: async at => (await readFrom(start + at)).subarray(0, end - start - at)
  }
}

/**
 * Of every answer that is not a file of the app: a browser that is led to it shows text, in no frame, and
 * takes it for no page, script or style of ours.
 */
export const notAPage: Headers = asOne([
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "sandbox; default-src 'none'; frame-ancestors 'none'"]
])

// An upload is never rendered as a page of ours, whatever its content and however a browser requests it
// [H7].
const inert: Headers = asOne([
  ['content-type', 'application/octet-stream'],
  ['content-disposition', 'attachment'],
  ['accept-ranges', 'bytes'],
  ['cache-control', 'no-store'],
  ...notAPage
])

/**
 * The same headers as a single one whose value has the lines of the others: the library writes it as it is, and each header
 * that it is given costs a call. Only for constants.
 */
export function asOne(headers: Headers): Headers {
  const [[name, value] = ['', ''], ...others] = headers
  return [[name, [value, ...others.map(([name, value]) => `${name}: ${value}`)].join('\r\n')]]
}
