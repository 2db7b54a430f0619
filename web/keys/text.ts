/** The account key as a person writes it down: ten groups of five letters and one of two. */
export const keyLetters = 52
const groupLetters = 5

/** The groups of a key that is known to be whole, such as "ABCDE-…". */
export function groupsOf(key: string): string[] {
  return key.split('-')
}

/**
 * Groups a key while it is typed or pasted: upper case, a blank after every fifth letter, everything that is no letter and no digit dropped.
 * Strange letters of other scripts stay, so that they can be pointed out. The 43 letters of the base64url form are left as they are.
 */
export function groupTyped(text: string): string {
  const trimmed = text.trim()
  if (isBase64Form(trimmed)) return trimmed
  const letters = [...text].filter(letter => /[\p{L}\p{N}]/u.test(letter)).map(letter => letter.toUpperCase())
  const groups: string[] = []
  for (let at = 0; at < letters.length; at += groupLetters) groups.push(letters.slice(at, at + groupLetters).join(''))
  return groups.join(' ')
}

/** Where the caret stands after grouping, when it stood behind `before` of the ungrouped text. */
export function caretAfterGrouping(before: string): number {
  return groupTyped(before).length
}

/** How many letters a text has, blanks and dashes not counted. */
export function countLetters(text: string): number {
  return [...text].filter(letter => /[\p{L}\p{N}]/u.test(letter)).length
}

/** Letters that look alike on paper count as the same: 0 and O, 1 and I, 8 and B, 9 and G. */
export function isSameGroup(typed: string, group: string): boolean {
  const letters = [...typed].filter(letter => /[\p{L}\p{N}]/u.test(letter)).map(letter => lookalikes[letter] ?? letter.toUpperCase())
  return letters.join('') === group
}

/** Three different groups to ask for, in their order; never the short last one, which says too little. `random` gives 0 up to 1. */
export function pickGroups(random: () => number): number[] {
  const left = Array.from({ length: 10 }, (_, group) => group)
  const picked = Array.from({ length: 3 }, () => left.splice(Math.floor(random() * left.length), 1)[0] ?? 0)
  return picked.sort((a, b) => a - b)
}

const lookalikes: Record<string, string> = { '0': 'O', '1': 'I', '8': 'B', '9': 'G' }

// Both cases together, or a dash or underline within: base32 written in groups has neither.
function isBase64Form(text: string): boolean {
  return /^[\w-]{43}$/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
}
