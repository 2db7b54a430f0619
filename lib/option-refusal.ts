import * as z from 'zod'

type Issue = z.core.$ZodIssue

/** What keeps a value from being used, in one sentence: what its option takes. The value is left out, since some are secret. */
export function optionRefusal(issue: Issue | undefined, schema: z.ZodType | undefined, source: string): string {
  if (issue?.code === 'unrecognized_keys') return `There is no option ${issue.keys.join(', ')}.`
  if (issue?.code === 'custom' || !schema) return `${source} ${issue?.message}.`
  return `${source} takes ${takenBy(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))}.`
}

function takenBy({ type, enum: choices, minimum, exclusiveMinimum, maximum, minLength = 0 }: z.core.JSONSchema.BaseSchema): string {
  if (choices) return `one of ${choices.join(', ')}`
  if (type === 'boolean') return 'true, yes, on or 1, or false, no, off or 0'
  if (type === 'integer') {
    const least = minimum ?? Number(exclusiveMinimum ?? 0) + 1
    return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
      ? `a whole number of ${least} or more`
      : `a whole number from ${least} to ${maximum}`
  }
  return minLength > 1 ? `text of ${minLength} or more characters` : 'text that is not empty'
}

/** An address of a whole server, kept without the slash at its end. */
export const serverAddress = z.string().transform((text, context) => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin
  context.issues.push({ code: 'custom', input: text, message: addressWords(url) })
  return z.NEVER
})

function addressWords(url: URL | null): string {
  if (!url || !/^https?:$/.test(url.protocol)) return 'takes an address such as https://home.example'
  return 'takes an address without a path, a name or anything else behind its host: the server needs a host or port of its own'
}

/** A star, or an origin as browsers write it. */
export const webOrigin = z.string().refine(text => text === '*' || URL.parse(text)?.origin === text, {
  error: 'takes * or one origin such as https://app.example, without a slash at its end'
})

/** `off`, or where notifications are handed over. */
export const pushAddress = z.string().refine(text => text === 'off' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'takes off or an address such as https://exp.host'
})

/** Where the operator may be reached, as RFC 8292 wants it. */
export const pushContact = z.string().refine(text => /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(text), {
  error: 'takes mailto: and an address, or an https address'
})
