export const mostDepth = 32
/** Keys of one object. */
export const mostKeys = 1000
/** Values of all objects and arrays together. */
export const mostValues = 10_000

/** This much text may be parsed without a check: it is too little to do harm. */
const littleText = 64 * 1024

/** The value of a JSON text; undefined if it is invalid or too complex. Of equal keys the last one counts. */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  const read = readJson(text, reviver)
  return typeof read === 'string' ? undefined : read.value
}

/** The same, with the reason if there is no such value. */
export function readJson(text: string, reviver?: (key: string, value: unknown) => unknown): { value: unknown } | 'no-json' | 'not-modest' {
  const isLittle = text.length <= littleText && reviver === undefined
  if (!isLittle && !isModest(text)) return 'not-modest'
  try {
    const value: unknown = JSON.parse(text, reviver)
    return isLittle && !isModestValue(value) ? 'not-modest' : { value }
  } catch {
    return 'no-json'
  }
}

/** Counts like `isModest` does, except for equal keys; for a few long strings it is much faster. */
function isModestValue(whole: unknown): boolean {
  let values = 0
  return isModestAt(whole, 1)

  function isModestAt(value: unknown, depth: number): boolean {
    if (typeof value !== 'object' || value === null) return true
    const items = Array.isArray(value) ? value : Object.values(value)
    values += items.length || 1
    if (depth > mostDepth || values > mostValues || (items !== value && items.length > mostKeys)) return false
    return items.every(item => isModestAt(item, depth + 1))
  }
}

/**
 * How many characters of a string are scanned one by one; in longer ones the end is searched for, which is
 * far faster.
 */
const shortString = 64

const quote = 34
const comma = 44
const colon = 58
const openArray = 91
const backslash = 92
const closeArray = 93
const openObject = 123
const closeObject = 125

/** How many keys the open object at each depth has so far; one text is checked at a time. */
const keysAt = new Uint16Array(mostDepth + 1)

/**
 * False for JSON deeper or wider than any client sends. Checked before any of it is parsed, because a few
 * bytes of text can become many of objects.
 */
export function isModest(text: string): boolean {
  // The parser finds out whether it is JSON at all; this only separates strings from the rest, and counts
  // the rest.
  keysAt[0] = 0
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case colon: {
        const keys = (keysAt[depth] ?? 0) + 1
        if (keys > mostKeys) return false
        keysAt[depth] = keys
        break
      }
      case comma:
        values += 1
        break
      case openArray:
      case openObject:
        depth += 1
        values += 1
        if (depth > mostDepth) return false
        keysAt[depth] = 0
        break
      case closeArray:
      case closeObject:
        if (depth > 0) depth -= 1
    }
    if (values > mostValues) return false
  }
  return true
}

/** The closing quote of the string that begins at `start`; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  const short = Math.min(start + shortString, text.length)
  let at = start + 1
  while (at < short) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    at += code === backslash ? 2 : 1
  }
  const found = text.indexOf('"', at)
  // After an escape, it may not be the end. Then each character counts: a search for each of many quotes
  // is slow.
  if (found === -1 || !text.slice(at, found).includes('\\')) return found === -1 ? text.length : found
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    at += code === backslash ? 2 : 1
  }
  return text.length
}
