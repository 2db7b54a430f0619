/** The account key in written form: ten groups of five letters and one of two. */
export const keyLetters = 52
const groupLetters = 5

/** The groups of a complete key, such as "ABCDE-…". */
export function groupsOf(key: string): string[] {
  return key.split('-')
}

/**
 * Groups a key while it is typed or pasted: upper case, a space after every fifth letter, everything but letters and digits dropped.
 * Letters of other scripts stay, so that they can be pointed out. The base64url form of 43 letters is left unchanged.
 */
export function groupTyped(text: string): string {
  const trimmed = text.trim()
  if (isBase64Form(trimmed)) return trimmed
  const letters = [...text].filter(letter => /[\p{L}\p{N}]/u.test(letter)).map(letter => letter.toUpperCase())
  const groups: string[] = []
  for (let at = 0; at < letters.length; at += groupLetters) groups.push(letters.slice(at, at + groupLetters).join(''))
  return groups.join(' ')
}

/** The position of the caret after grouping, if it was behind `before` in the ungrouped text. */
export function caretAfterGrouping(before: string): number {
  return groupTyped(before).length
}

/** The number of letters in a text, without spaces and dashes. */
export function countLetters(text: string): number {
  return [...text].filter(letter => /[\p{L}\p{N}]/u.test(letter)).length
}

/** Letters that look alike on paper count as the same: 0 and O, 1 and I, 8 and B, 9 and G. */
export function isSameGroup(typed: string, group: string): boolean {
  const letters = [...typed].filter(letter => /[\p{L}\p{N}]/u.test(letter)).map(letter => lookalikes[letter] ?? letter.toUpperCase())
  return letters.join('') === group
}

/** Three different groups to ask for, in ascending order; never the short last one, which proves too little. `random` returns 0 up to 1. */
export function pickGroups(random: () => number): number[] {
  const left = Array.from({ length: 10 }, (_, group) => group)
  const picked = Array.from({ length: 3 }, () => left.splice(Math.floor(random() * left.length), 1)[0] ?? 0)
  return picked.sort((a, b) => a - b)
}

const lookalikes: Record<string, string> = { '0': 'O', '1': 'I', '8': 'B', '9': 'G' }

// Mixed case, or a dash or underscore inside: a base32 key in groups has neither.
function isBase64Form(text: string): boolean {
  return /^[\w-]{43}$/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
}
