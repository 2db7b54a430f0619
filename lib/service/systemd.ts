/** A command in a unit: its words quoted, and no dollar of them read as a variable. */
export function commandOf(words: readonly string[]): string {
  return words.map(word => quoted(word).replaceAll('$', '$$$$')).join(' ')
}

/**
 * In systemd's word syntax: quoted, with its special characters doubled. A dollar is one of them only in
 * commands.
 */
export function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replace(/%/g, '%%')}"`
}
