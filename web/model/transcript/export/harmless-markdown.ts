/**
 * An agent's Markdown made safe for any viewer: HTML in it is text, pictures are not fetched, and links lead only to the web
 * or to mail. Code that every viewer recognises as code is unchanged.
 */
export function harmlessMarkdown(text: string): string {
  const out: string[] = []
  let part: string[] = []
  let fence: string | undefined
  const close = (): void => {
    if (part.length > 0) out.push(paragraphs(part.join('\n')))
    part = []
  }
  for (const line of text.split('\n')) {
    if (fence !== undefined) {
      out.push(line)
      if (endsFence(line, fence)) fence = undefined
      continue
    }
    const opened = opening.exec(line)?.[1]
    if (opened === undefined) part.push(line)
    else {
      close()
      out.push(line)
      fence = opened
    }
  }
  close()
  // An unclosed one would include the text after it.
  if (fence !== undefined) out.push(fence)
  return out.join('\n')
}

// Indented by less than a code block, and with nothing before it: no list or quotation continues there.
const opening = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

function endsFence(line: string, fence: string): boolean {
  const [, ticks = '', after = ''] = /^ {0,3}(`+|~+)(.*)$/.exec(line) ?? []
  return ticks.startsWith(fence) && after.trim() === ''
}

function paragraphs(text: string): string {
  return text
    .split(/(\n[ \t]*(?:\n[ \t]*)+)/)
    .map((part, index) => (index % 2 === 0 ? paragraph(part) : part))
    .join('')
}

/** Inline code is unchanged only if all of it ends on its own line: otherwise viewers may pair the marks differently. */
function paragraph(text: string): string {
  const lines = text.split('\n').map(line => line.split(span))
  const isClear = lines.every(parts => parts.every((part, index) => index % 2 === 1 || !part.includes('`')))
  if (!isClear) return escaped(text)
  let rest = ''
  const codes: string[] = []
  for (const [number, parts] of lines.entries()) {
    if (number > 0) rest += '\n'
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) rest += part
      else rest += `${mark}${codes.push(part) - 1}${mark}`
    }
  }
  return escaped(rest).replaceAll(marked, (_, index) => codes[Number(index)] ?? '')
}

// After a space, where no address continues and nothing is escaped; and no table cell ends in it.
const span = /((?<=^|\s)`[^`|\n]+`(?!`))/
// It occurs in no text of a person or an agent.
const mark = '\uffff'
const marked = /\uffff(\d+)\uffff/g

// As entities: a backslash before them stays literal.
function escaped(text: string): string {
  return text
    .replaceAll(/<(?=[a-z!/?])/gi, '&lt;')
    .replaceAll('![', '!&#91;')
    .replaceAll(/\](?=\((?!\s*<?(?:https?:|mailto:)))/gi, '&#93;')
    .replaceAll(/^([ \t>*+\-\d.]*)\[(?=[^\]]*\]:(?!\s*<?(?:https?:|mailto:)))/gim, '$1&#91;')
}
