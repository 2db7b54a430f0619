/** The words of a prompt in which Claude Code has marked what was pasted, as it does with a long one. */
export function withoutPasteMarks(text: string): string {
  return marks.test(text) ? text.replace(eachMark, '').replace(/^\n+/, '') : text
}

const marks = /<pasted_content id="[^"]*">/
const eachMark = /\n?<\/?pasted_content(?: id="[^"]*")?>\n?/g
