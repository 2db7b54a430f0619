import { CannotStart } from '../lib/exit.ts'

/** Where Redis is, and how to speak of it without the password. */
export interface Place {
  url: string
  /** Of all channels and keys: servers that use different databases of one Redis do not hear each other. */
  prefix: string
  /** Why it does not work now, in a sentence. */
  failure(error: unknown): Error
}

/** Throws CannotStart if it is no address of a Redis. */
export function placeOf(url: string): Place {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const database = parsed?.pathname.replace(/^\//, '') || '0'
  if (!parsed || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '' || !/^\d{1,4}$/.test(database))
    throw new CannotStart('--bus is not an address of a Redis, such as redis://:password@host:6379/0, or rediss://… with TLS.')
  const name = `${parsed.hostname}:${parsed.port || 6379}`
  return {
    url,
    prefix: `afield:${database}:`,
    failure: error => new Error(`The bus at ${name} does not work: ${reasonOf(error)}. Live updates between instances wait for it.`)
  }
}

/** If only a person can repair it: what Redis or TLS rejects. */
export function refusalOf(error: unknown, { failure }: Place): CannotStart | undefined {
  const code = codeOf(error)
  const isFull = error instanceof Error && error.message.includes('max number of clients')
  const isRefusal = !isFull && /^(?:NOAUTH|WRONGPASS|NOPERM|NOPROTO|ERR)$|CERT|TLS|SELF_SIGNED|UNABLE_TO|WRONG_VERSION/.test(code)
  return isRefusal ? new CannotStart(failure(error).message.replace(/ Live updates.*/, '')) : undefined
}

/** A code of the system, or the first word of what Redis answers; the rest may repeat what was sent. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? ''
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'NOAUTH' || code === 'WRONGPASS') return `it rejects the password or user (${code})`
  if (code === 'NOPERM') return 'its user may not do what is needed (NOPERM)'
  if (code !== '') return code
  return error instanceof Error && error.name !== 'Error' ? error.name : 'it closed the connection'
}
