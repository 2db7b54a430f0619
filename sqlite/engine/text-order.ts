/** Greater than every text: SQLite orders bytes after text. */
export const afterAllText: Buffer = Buffer.of(0)

const last = 0x10ffff

/** The smallest text above all that begin with the prefix, in UTF-8 byte order, which is code point order. */
export function endOfPrefix(prefix: string): string | Buffer {
  const points = Array.from(prefix, character => character.codePointAt(0) ?? 0)
  while (points.at(-1) === last) points.pop()
  const point = points.pop()
  if (point === undefined) return afterAllText
  // Lone surrogates are not text.
  return String.fromCodePoint(...points, point === 0xd7ff ? 0xe000 : point + 1)
}
