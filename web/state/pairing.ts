import { answerDeviceLinking, answerPairing, Refused, readLink, readPairingStatus } from '../../lib/client/index.ts'
import type { Live } from './live.ts'

/** What a person has to know about a link that was scanned, pasted or opened. */
export type PairingView =
  | { type: 'checking' }
  | { type: 'ready'; isDevice: boolean; supportsV2: boolean; publicKey: Uint8Array }
  | { type: 'linked'; isDevice: boolean }
  /** Expired, withdrawn or never there. */
  | { type: 'gone' }
  | { type: 'answered' }
  | { type: 'no-link' }
  | { type: 'bad-link' }
  | { type: 'other-server'; host: string; href: string }
  | { type: 'unreachable' }

type Linking = Pick<Live, 'rest' | 'vault'>

/** Asks the server about the request behind a link, so that nobody confirms what is no longer there. */
export async function lookAtLink({ rest }: Pick<Linking, 'rest'>, href: string): Promise<PairingView> {
  const link = readLink(href)
  if (!link) return { type: 'bad-link' }
  if (link.server !== undefined && link.server !== rest.server) return { type: 'other-server', host: new URL(link.server).host, href }
  // A new device asks in another list, which the server shows to nobody.
  if (link.type === 'device') return { type: 'ready', isDevice: true, supportsV2: false, publicKey: link.publicKey }
  try {
    const request = await readPairingStatus(rest, link.publicKey)
    if (request.status === 'gone') return { type: 'gone' }
    if (request.status === 'answered') return { type: 'answered' }
    return { type: 'ready', isDevice: false, supportsV2: request.supportsV2, publicKey: link.publicKey }
  } catch {
    return { type: 'unreachable' }
  }
}

export async function answerLink(
  { rest, vault }: Linking,
  { isDevice, supportsV2, publicKey }: Extract<PairingView, { type: 'ready' }>
): Promise<PairingView | { type: 'refused'; message: string }> {
  try {
    if (isDevice) await answerDeviceLinking({ rest, vault, publicKey })
    else await answerPairing({ rest, vault, publicKey, supportsV2 })
    return { type: 'linked', isDevice }
  } catch (error) {
    if (!(error instanceof Refused)) return { type: 'unreachable' }
    if (error.status === 404 || error.status === 410) return { type: 'gone' }
    if (error.status === 409) return { type: 'answered' }
    return { type: 'refused', message: error.code }
  }
}
