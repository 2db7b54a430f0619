import type { BytesIn } from '../../../protocol/wire/routes.ts'

/**
 * The bytes after the first `skipped` ones, in pieces of `most` and a last one. If they are cut off,
 * `keepCut` returns what came before the error. A piece counts as held until the next is asked for.
 */
export async function* inPieces(
  bytes: BytesIn,
  { most, skipped = 0, keepCut = false }: { most: number; skipped?: number; keepCut?: boolean }
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let length = 0
  let toSkip = skipped
  const take = () => {
    const piece = Buffer.concat(held, length)
    held = []
    length = 0
    return piece
  }
  try {
    for await (const chunk of bytes) {
      let at = Math.min(toSkip, chunk.length)
      toSkip -= at
      while (at < chunk.length) {
        const part = chunk.subarray(at, at + most - length)
        held.push(part)
        length += part.length
        at += part.length
        if (length === most) yield take()
      }
      bytes.keep(length)
    }
  } catch (error) {
    if (keepCut && length > 0) yield take()
    throw error
  }
  if (length > 0) yield take()
}
