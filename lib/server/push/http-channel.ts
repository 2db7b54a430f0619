import type { ChannelKind } from '../../protocol/wire/notifications.ts'
import * as v from '../../schema.ts'
import { noAnswer, noAnswerInTime, type Outgoing, type PushProvider, type SendOutcome } from '../push.ts'
import { fieldsOf, outcomeOf } from './answers.ts'
import { type Ask, NotAllowed, type Outbound, readTarget } from './outbound.ts'

/** An address that a person chose; whether it may be reached is checked on each request. */
export const webAddress = v.pipe(v.string(), v.maxLength(2048), v.check(isTarget, 'is not a web address'))
/** The app's address, as its owner opens it; notifications link there. */
export const appAddress = v.optional(v.pipe(webAddress, v.maxLength(300)))

interface HttpChannel<Fields> {
  kind: ChannelKind
  prefix: string
  fields: v.GenericSchema<unknown, Fields>
  acknowledges?: boolean
  clears?: boolean
  /** Undefined: there is no request to make, as for a `clear` that the service does not support. */
  ask(fields: Fields, outgoing: Outgoing): Omit<Ask, 'signal'> | Promise<Omit<Ask, 'signal'>> | undefined
}

/** A provider with one request per channel, to an address that a person chose. */
export function httpChannel<Fields>(outbound: Outbound, channel: HttpChannel<Fields>): PushProvider {
  const { kind, prefix, fields, acknowledges = false, clears = false } = channel

  async function sendOne(outgoing: Outgoing, signal: AbortSignal): Promise<SendOutcome> {
    const read = v.safeParse(fields, fieldsOf(outgoing.token, prefix))
    if (!read.success) return { outcome: 'refused', reason: 'unreadable token' }
    try {
      const ask = await channel.ask(read.data, outgoing)
      if (ask === undefined) return { outcome: 'accepted' }
      return outcomeOf(await outbound.send({ ...ask, signal }))
    } catch (error) {
      if (isNotAllowed(error)) return { outcome: 'refused', reason: 'address not allowed' }
      return { outcome: 'unreachable', reason: signal.aborted ? noAnswerInTime : noAnswer }
    }
  }

  return {
    kind,
    mostAtOnce: 1,
    acknowledges,
    clears,
    knows: token => token.startsWith(`${prefix}[`),
    flawOf(token) {
      const read = v.safeParse(fields, fieldsOf(token, prefix))
      if (read.success) return undefined
      const { path, message } = read.problem
      return `${prefix}: ${path.join('.') || 'token'} ${message}`
    },
    send: (all, signal) => Promise.all(all.map(outgoing => sendOne(outgoing, signal)))
  }
}

// undici rethrows lookup errors as they are, or as the cause of its own error.
function isNotAllowed(error: unknown): boolean {
  return error instanceof NotAllowed || (error instanceof Error && error.cause instanceof NotAllowed)
}

function isTarget(text: string): boolean {
  try {
    readTarget(text)
    return true
  } catch {
    return false
  }
}

/** The page that a notice links to, in the app of the person who registered the channel. */
export function pageOf(app: string | undefined, { session }: Pick<Outgoing, 'session'>): string | undefined {
  return app === undefined ? undefined : new URL(session === undefined ? '/' : `/s/${session}`, app).href
}
