import type { BytesIn } from '../../../protocol/wire/routes.ts'

/**
 * The same bytes in pieces of `most` and a last one. If they are cut off, `keepCut` returns what came
 * before the error.
 */
export async function* inPieces(bytes: BytesIn, { most, keepCut = false }: { most: number; keepCut?: boolean }): BytesIn {
  let held: Uint8Array[] = []
  let length = 0
  const take = () => {
    const piece = Buffer.concat(held, length)
    held = []
    length = 0
    return piece
  }
  try {
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + most - length)
        held.push(part)
        length += part.length
        at += part.length
        if (length === most) yield take()
      }
    }
  } catch (error) {
    if (keepCut && length > 0) yield take()
    throw error
  }
  if (length > 0) yield take()
}

/** All but the first ones. */
export async function* skipping(bytes: BytesIn, count: number): BytesIn {
  let left = count
  for await (const chunk of bytes) {
    const skipped = Math.min(left, chunk.length)
    left -= skipped
    if (skipped < chunk.length) yield chunk.subarray(skipped)
  }
}
