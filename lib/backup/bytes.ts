import { CannotStart } from '../exit.ts'

/** Up to that many of the next bytes; fewer only at the end. */
export type ReadBytes = (length: number) => Promise<Buffer>

export function readBytes(source: AsyncIterable<Uint8Array>): ReadBytes {
  const pieces = source[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)
  return async length => {
    const taken = [held]
    let bytes = held.length
    while (bytes < length) {
      const next = await pieces.next()
      if (next.done) break
      taken.push(Buffer.from(next.value))
      bytes += next.value.length
    }
    const all = taken.length === 1 ? held : Buffer.concat(taken)
    held = all.subarray(length)
    return all.subarray(0, length)
  }
}

export async function exactly(read: ReadBytes, length: number): Promise<Buffer> {
  const bytes = await read(length)
  if (bytes.length < length) throw new CannotStart('The backup is truncated: its end is missing.')
  return bytes
}

/** A line of at most that many bytes, without its end; undefined if there is none. */
export async function readLine(read: ReadBytes, most: number): Promise<string | undefined> {
  const bytes: number[] = []
  while (bytes.length <= most) {
    const [byte] = await read(1)
    if (byte === undefined) return undefined
    if (byte === 0x0a) return Buffer.from(bytes).toString()
    bytes.push(byte)
  }
  return undefined
}
