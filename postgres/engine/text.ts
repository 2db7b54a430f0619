const nul = '\u0000'
const mark = '\u0001'

/**
 * PostgreSQL stores every text but U+0000, which ids and sealed texts of a client may contain. It becomes two
 * U+0001, and a U+0001 becomes U+0001 U+0002: texts keep their order, and their prefixes.
 */
export function textToStore(text: string): string {
  if (!text.includes(nul) && !text.includes(mark)) return text
  return text.replaceAll(mark, `${mark}\u0002`).replaceAll(nul, mark + mark)
}

export function storedText(text: string): string {
  let whole = ''
  let from = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, from)) {
    whole += text.slice(from, at) + (text[at + 1] === mark ? nul : mark)
    from = at + 2
  }
  return from === 0 ? text : whole + text.slice(from)
}
