/** A pasted or scanned text, searched for the link of a computer or device that wants to be linked. */
export type PastedLink =
  | { type: 'link'; href: string }
  /** It begins like a link but is cut off. */
  | { type: 'cut' }
  /** A link to create an account with. */
  | { type: 'for-account' }
  /** Some other address. */
  | { type: 'foreign'; host: string }
  | { type: 'nothing' }

/**
 * Terminals wrap long lines, and a whole screen may have been copied, so white space and surrounding text are ignored. The end of a link follows
 * from its length.
 */
export function findLink(text: string): PastedLink {
  const glued = text.replace(/[\s\u200B-\u200F\u2060\uFEFF]+/g, '')
  for (const form of forms) {
    const href = form.exec(glued)?.[0]
    if (href !== undefined) return { type: 'link', href }
  }
  if (/\/terminal\/connect#(?:v2|key)=|^happy:/i.test(glued)) return { type: 'cut' }
  if (/^https?:\/\/[^#]+#(?:setup|invite)=/i.test(glued)) return { type: 'for-account' }
  const address = /^https?:\/\/\S+/i.exec(text.trim())?.[0]
  return address !== undefined && URL.canParse(address) ? { type: 'foreign', host: new URL(address).host } : { type: 'nothing' }
}

const server = 'https?:\\/\\/(?:(?!https?:\\/\\/)[^#])+?'
const key = '[\\w+/-]{43}=?'
const forms = [
  new RegExp(`${server}\\/terminal\\/connect#v2=[td]\\.[\\w-]{1,64}\\.[\\w-]{22}\\.[\\w-]{22}`, 'i'),
  new RegExp(`${server}\\/terminal\\/connect#key=${key}`, 'i'),
  new RegExp(`happy:\\/\\/(?:terminal|\\/account)\\/?\\?${key}`, 'i')
]
