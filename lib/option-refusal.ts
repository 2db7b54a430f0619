import * as v from './schema.ts'

/** Why a value was rejected, in one sentence that says what is accepted. The value is left out, since some are secret. */
export function optionRefusal({ type, path, message }: v.Problem, schema: v.GenericSchema | undefined, source: string): string {
  if (type === 'strict_object') return `There is no option ${String(path[0])}.`
  if (type === 'check' || !schema) return `${source} ${message}.`
  return `${source} must be ${acceptedBy(outlineOf(schema))}.`
}

/** What the schema of an option accepts. */
export interface Outline {
  type: string
  choices?: readonly string[]
  least?: number
  most?: number
}

export function outlineOf(schema: v.GenericSchema): Outline {
  const outline: Outline = { type: schema.type }
  for (const part of partsOf(schema)) {
    if (part.kind === 'schema') outline.type = part.type
    if ('options' in part) outline.choices = part.options as readonly string[]
    if (!('requirement' in part) || typeof part.requirement !== 'number') continue
    if (/^min_/.test(part.type)) outline.least = part.requirement
    if (part.type === 'gt_value') outline.least = part.requirement + 1
    if (part.type === 'max_value') outline.most = part.requirement
  }
  return outline
}

type Part = v.GenericSchema | v.GenericPipeItem

function partsOf(part: Part): readonly Part[] {
  if ('wrapped' in part) return partsOf(part.wrapped as Part)
  return 'pipe' in part && part.pipe !== undefined ? (part.pipe as readonly Part[]).flatMap(partsOf) : [part]
}

function acceptedBy({ type, choices, least, most }: Outline): string {
  if (choices) return `one of ${choices.join(', ')}`
  if (type === 'boolean') return 'true, yes, on or 1, or false, no, off or 0'
  if (type === 'number') return most === undefined ? `a whole number of ${least} or more` : `a whole number from ${least} to ${most}`
  return least !== undefined && least > 1 ? `text of ${least} or more characters` : 'non-empty text'
}

/** The address of a server, stored without its trailing slash. */
export const serverAddress = v.pipe(
  v.string(),
  v.check(isServerAddress, ({ input }) => addressWords(URL.parse(input))),
  v.transform(text => new URL(text).origin)
)

function isServerAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
}

function addressWords(url: URL | null): string {
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an address such as https://home.example'
  return 'must be an address without a path, a user name or anything else after the host: the server needs its own host or port'
}

/** A star, or an origin as browsers write it. */
export const webOrigin = v.pipe(
  v.string(),
  v.check(
    text => text === '*' || URL.parse(text)?.origin === text,
    'must be * or one origin such as https://app.example, without a trailing slash'
  )
)

/** `off`, or the address of the notification service. */
export const pushAddress = v.pipe(
  v.string(),
  v.check(text => text === 'off' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be off or an address such as https://exp.host')
)

/** The directory of an authority that speaks ACME. */
export const acmeDirectory = v.pipe(
  v.string(),
  v.check(text => URL.parse(text)?.protocol === 'https:', 'must be the https address of an ACME directory')
)

/** The mode of a file. */
export const fileMode = v.pipe(
  v.string(),
  v.check(text => /^[0-7]{3}$/.test(text), 'must be three digits as chmod takes them, such as 660')
)

/** A contact of the operator, as required by RFC 8292. */
export const pushContact = v.pipe(
  v.string(),
  v.check(text => /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(text), 'must be a mailto: or https: address')
)
