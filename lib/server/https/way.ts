import { isIP } from 'node:net'
import type { ServerOptions } from '../../options.ts'
import type { Tailscale } from './tailscale.ts'

type Given = Pick<ServerOptions, 'publicUrl' | 'tlsCert' | 'httpsDirectory'>

/** How this host gets its certificate, or why it gets none. */
export type Way = { type: 'files' } | { type: 'acme' | 'tailscale'; name: string } | { type: 'none'; findings: string[] }

/** The first that fits: own files, an authority for the name in the public URL, Tailscale. */
export async function chooseWay(given: Given, lookAtTailscale: () => Promise<Tailscale>): Promise<Way> {
  if (given.tlsCert !== undefined) return { type: 'files' }
  const name = given.publicUrl === undefined ? undefined : new URL(given.publicUrl).hostname.toLowerCase()
  if (name !== undefined && !name.endsWith('.ts.net') && isIssuable(name, given.httpsDirectory)) return { type: 'acme', name }
  const tailscale = await lookAtTailscale()
  if (tailscale.state === 'ready' && (name === undefined || name === tailscale.name)) return { type: 'tailscale', name: tailscale.name }
  return { type: 'none', findings: [aboutName(name), aboutTailscale(tailscale, name)] }
}

export const letsEncrypt = 'https://acme-v02.api.letsencrypt.org/directory'

/** Names that no public authority issues for. */
const privateEnds = /(^|\.)(localhost|local|internal|lan|home|home\.arpa|test|example|invalid|onion)$/

/** An authority of one's own may issue for any name. */
function isIssuable(name: string, directory: string): boolean {
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return false
  return directory !== letsEncrypt || (name.includes('.') && !privateEnds.test(name))
}

function aboutName(name: string | undefined): string {
  if (name === undefined) return 'No public name is given with --public-url.'
  return `${name} is no public name for which an authority issues certificates.`
}

function aboutTailscale(tailscale: Tailscale, name: string | undefined): string {
  switch (tailscale.state) {
    case 'missing':
      return 'There is no tailscale program.'
    case 'logged-out':
      return 'Tailscale is installed, but not logged in or not running.'
    case 'no-https':
      return `Tailscale is logged in as ${tailscale.name}, but HTTPS certificates are not enabled for its network (admin console, DNS).`
    case 'ready':
      return `Tailscale is logged in as ${tailscale.name}, which is not ${name}.`
  }
}
