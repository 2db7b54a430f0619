import * as z from 'zod'

type Issue = z.core.$ZodIssue

/** Why a value was rejected, in one sentence that says what is accepted. The value is left out, since some are secret. */
export function optionRefusal(issue: Issue | undefined, schema: z.ZodType | undefined, source: string): string {
  if (issue?.code === 'unrecognized_keys') return `There is no option ${issue.keys.join(', ')}.`
  if (issue?.code === 'custom' || !schema) return `${source} ${issue?.message}.`
  return `${source} must be ${acceptedBy(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))}.`
}

function acceptedBy({ type, enum: choices, minimum, exclusiveMinimum, maximum, minLength = 0 }: z.core.JSONSchema.BaseSchema): string {
  if (choices) return `one of ${choices.join(', ')}`
  if (type === 'boolean') return 'true, yes, on or 1, or false, no, off or 0'
  if (type === 'integer') {
    const least = minimum ?? Number(exclusiveMinimum ?? 0) + 1
    return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
      ? `a whole number of ${least} or more`
      : `a whole number from ${least} to ${maximum}`
  }
  return minLength > 1 ? `text of ${minLength} or more characters` : 'non-empty text'
}

/** The address of a server, stored without its trailing slash. */
export const serverAddress = z.string().transform((text, context) => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin
  context.issues.push({ code: 'custom', input: text, message: addressWords(url) })
  return z.NEVER
})

function addressWords(url: URL | null): string {
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an address such as https://home.example'
  return 'must be an address without a path, a user name or anything else after the host: the server needs its own host or port'
}

/** A star, or an origin as browsers write it. */
export const webOrigin = z.string().refine(text => text === '*' || URL.parse(text)?.origin === text, {
  error: 'must be * or one origin such as https://app.example, without a trailing slash'
})

/** `off`, or the address of the notification service. */
export const pushAddress = z.string().refine(text => text === 'off' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'must be off or an address such as https://exp.host'
})

/** A contact of the operator, as required by RFC 8292. */
export const pushContact = z.string().refine(text => /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(text), {
  error: 'must be a mailto: or https: address'
})
