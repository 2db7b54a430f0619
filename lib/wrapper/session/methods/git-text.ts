const looksAt = 8000

/** By the same rule as git: a zero byte near the beginning. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, looksAt).includes(0)
}

export function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines
}

/** Undefined for binary content. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (isBinary(bytes)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
