import {
  answerDeviceLinking,
  answerPairing,
  lookAtRequest,
  Refused,
  type RequestLink,
  readLink,
  readPairingStatus,
  readRequestLink
} from '../../lib/client/index.ts'
import { trueNow } from '../core/clock.ts'
import type { Live } from '../model/account/live.ts'

/** The state of a scanned, pasted or opened link, as shown to a person. */
export type PairingView =
  | { type: 'checking' }
  | ReadyToLink
  | { type: 'linked'; isDevice: boolean; name: string | undefined }
  /** Expired, withdrawn, or never existed. */
  | { type: 'gone' }
  | { type: 'answered'; name?: string | undefined; isYours?: boolean | undefined }
  /** Ended by wrong check codes. */
  | { type: 'refused' }
  /** The server describes another requester than the link does. */
  | { type: 'altered' }
  | { type: 'no-link' }
  | { type: 'bad-link' }
  | { type: 'other-server'; host: string; href: string }
  | { type: 'unreachable' }

export interface ReadyToLink {
  type: 'ready'
  isDevice: boolean
  /** It gets the account key itself, not only a key to write sessions with. */
  getsAll: boolean
  /** The requester, as the server knows it. Undefined for requests in the older protocol, which have no check code. */
  asker: Asker | undefined
  /** By the server's clock, ms since 1970; undefined if the server does not say. */
  endsAt: number | undefined
  answer(checkCode: string): Promise<PairingView | AnswerProblem>
  /** Rejects the request, if its protocol can. */
  refuse(): Promise<void>
}

export interface Asker {
  name: string
  /** The network from which the server sees it. */
  from: string
  /** Its description of itself, sealed for its link: the server could not change it, but nobody has verified it either. */
  about: { os?: string | undefined; user?: string | undefined; isRoot?: boolean | undefined } | undefined
}

type AnswerProblem = { type: 'wrong-code' } | { type: 'not-answered'; message: string }

type Linking = Pick<Live, 'rest' | 'vault'>

/** A link as existing apps read it too. */
type FirstLink = NonNullable<ReturnType<typeof readLink>>

/** Asks the server about the request behind a link, so that nobody confirms one that is over. */
export async function lookAtLink(live: Linking, href: string): Promise<PairingView> {
  const link = readRequestLink(href) ?? readLink(href)
  if (!link) return { type: 'bad-link' }
  try {
    const seen = 'linkSecret' in link ? await lookAtOurs(live, link) : await lookAtFirstKind(live, link)
    // A server may have several addresses, such as http:// at home and https:// outside: if it knows the request, it is the right one.
    const isForeign = link.server !== undefined && link.server !== live.rest.server && seen.type === 'gone'
    return isForeign ? { type: 'other-server', host: new URL(link.server ?? '').host, href } : seen
  } catch {
    return { type: 'unreachable' }
  }
}

async function lookAtOurs({ rest, vault }: Linking, link: RequestLink): Promise<PairingView> {
  const seen = await lookAtRequest({ rest, vault, link })
  if (seen.type !== 'waiting') return seen
  const { name, from, about, endsInMs, approval } = seen
  const isDevice = link.kind === 'device'
  return {
    type: 'ready',
    isDevice,
    getsAll: isDevice,
    asker: { name, from, about },
    endsAt: endsInMs === undefined ? undefined : trueNow() + endsInMs,
    refuse: () => approval.reject().catch(() => {}),
    answer: checkCode =>
      orRefusal(async () => {
        const outcome = await approval.approve(checkCode)
        if (outcome === 'approved') return { type: 'linked', isDevice, name }
        return { type: outcome }
      })
  }
}

async function lookAtFirstKind({ rest, vault }: Linking, { type, publicKey }: FirstLink): Promise<PairingView> {
  const isDevice = type === 'device'
  // Requests of new devices are in another list, which the server shows to nobody.
  const request = isDevice ? ({ status: 'waiting', supportsV2: false } as const) : await readPairingStatus(rest, publicKey)
  if (request.status === 'gone') return { type: 'gone' }
  if (request.status === 'answered') return { type: 'answered' }
  const { supportsV2 } = request
  return {
    type: 'ready',
    isDevice,
    getsAll: isDevice || !supportsV2,
    asker: undefined,
    endsAt: undefined,
    refuse: async () => {},
    answer: () =>
      orRefusal(async () => {
        if (isDevice) await answerDeviceLinking({ rest, vault, publicKey })
        else await answerPairing({ rest, vault, publicKey, supportsV2 })
        return { type: 'linked', isDevice, name: undefined }
      })
  }
}

async function orRefusal(answer: () => Promise<PairingView | AnswerProblem>): Promise<PairingView | AnswerProblem> {
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Refused)) return { type: 'unreachable' }
    if (error.status === 404 || error.status === 410) return { type: 'gone' }
    if (error.status === 409) return { type: 'answered' }
    return { type: 'not-answered', message: error.code }
  }
}
