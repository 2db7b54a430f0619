import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { helpCommand } from '../lib/help-pages.ts'
import { findProgram } from '../lib/program-in-path.ts'
import { networkAddresses } from '../lib/server/edge/listen/reachable-urls.ts'
import { CertificateFile } from '../lib/server/https/certificate-file.ts'
import { lookAtTailscale, type Tailscale } from '../lib/server/https/tailscale.ts'
import type { Terminal } from '../lib/wrapper/terminal/terminal.ts'
import type { ReachAnswer } from './reach-answer.ts'

/** What this computer has that can give a server an address for phones. */
export interface Surroundings {
  /** A name with a valid certificate from an earlier start. */
  certified: string | undefined
  tailscale: Tailscale
  hasCloudflared: boolean
  /** IPv4 addresses of this computer in its networks. */
  addresses: readonly string[]
}

/** A program that does not answer is not offered, since the first steps wait for this. */
const lookLimitMs = 1_500

export async function lookAround(data: string, now: number): Promise<Surroundings> {
  return {
    certified: certifiedName(join(data, 'https'), now),
    tailscale: await lookAtTailscale(lookLimitMs),
    hasCloudflared: findProgram('cloudflared', process.env) !== undefined,
    addresses: networkAddresses()
  }
}

/** One way for phones to reach the server. */
export interface Offer {
  name: 'certificate' | 'tailscale' | 'cloudflared'
  found: string
  question: string
  /** The usual answer is yes, and it counts for later starts too. */
  stays: boolean
  /** What the command that takes it is for. */
  purpose: string
  /** By their flags. */
  options: NonNullable<ReachAnswer['taken']> & { tunnel?: 'cloudflared' }
}

/** Best first: an address that stays comes before one for a try. */
export function offersIn({ certified, tailscale, hasCloudflared }: Omit<Surroundings, 'addresses'>, port: number): Offer[] {
  const offers: Offer[] = []
  if (certified !== undefined) {
    const url = `https://${certified}:${port}`
    offers.push({
      name: 'certificate',
      found: `There is a certificate for ${certified} in the data directory.`,
      ...staying(url),
      options: { https: 'auto', 'public-url': url }
    })
  }
  if (tailscale.state === 'ready')
    offers.push({
      name: 'tailscale',
      found: 'Tailscale is logged in on this computer.',
      ...staying(`https://${tailscale.name}:${port}`),
      options: { https: 'auto' }
    })
  if (hasCloudflared)
    offers.push({
      name: 'cloudflared',
      found: 'cloudflared is installed on this computer.',
      question:
        'Open a tunnel for a try? Its address changes with every start, and anyone on the internet who knows it can reach this server.',
      stays: false,
      purpose: 'For a try, at an address on the internet that changes with every start',
      options: { tunnel: 'cloudflared' }
    })
  return offers
}

function staying(url: string) {
  return { question: `Serve at ${url}, in all networks of this computer?`, stays: true, purpose: `For ${url}` }
}

/** The first offer that a person takes, and those they decline before; undefined if there is no one to ask. */
export async function askAbout(
  offers: readonly Offer[],
  terminal: Pick<Terminal, 'ask'>
): Promise<{ taken?: Offer; declined: Offer['name'][] } | undefined> {
  const declined: Offer['name'][] = []
  for (const offer of offers) {
    const intro = declined.length === 0 ? 'Phones need HTTPS. ' : ''
    const said = await terminal.ask(`\n${intro}${offer.found} ${offer.question} ${offer.stays ? '[Y/n]' : '[y/N]'} `)
    if (said === undefined) return undefined
    if (isYes(said, offer.stays)) return { taken: offer, declined }
    declined.push(offer.name)
  }
  return { declined }
}

/** Only a clear yes opens the server to others. */
function isYes(said: string, isUsual: boolean): boolean {
  const word = said.trim()
  return word === '' ? isUsual : /^y(es)?$/i.test(word)
}

/** What a person can do next for their phone: paragraphs, each with the lines to copy. `toSet` gives the lines for some options. */
export function reachAdvice(
  surroundings: Surroundings,
  port: number,
  toSet: (options: Offer['options']) => { how: string; lines: string[] }
): { text: string; lines: string[] }[] {
  const { addresses, tailscale } = surroundings
  const offers = offersIn(surroundings, port)
  const why = 'Phones cannot use this address: their browsers require HTTPS.'
  if (offers.length > 0)
    return offers.map(({ found, purpose, options }, index) => {
      const { how, lines } = toSet(options)
      return { text: `${index === 0 ? `${why} ` : ''}${found} ${purpose}, ${how}:`, lines }
    })
  return [
    { text: `${why}${aboutNetwork(addresses)} The two shortest ways to a phone:`, lines: [] },
    { text: `- Tailscale, for an address that stays: ${nextWithTailscale(tailscale)}.`, lines: [] },
    { text: '- cloudflared, for a try: install it on this computer (package cloudflared of Cloudflare).', lines: [] },
    {
      text: 'Then start the server again: it shows the next step. Other ways, such as a domain or certificate of your own, are explained by:',
      lines: [helpCommand('https')]
    }
  ]
}

function aboutNetwork(addresses: readonly string[]): string {
  if (addresses.length === 0) return ''
  const all = addresses.length > 1 ? `${addresses.slice(0, -1).join(', ')} and ${addresses.at(-1)}` : addresses[0]
  return ` In its network this computer has the address${addresses.length > 1 ? 'es' : ''} ${all}, where phones need HTTPS as well.`
}

function nextWithTailscale(tailscale: Tailscale): string {
  switch (tailscale.state) {
    case 'missing':
      return 'install it here and on the phone (tailscale.com/download), and log in on both'
    case 'logged-out':
      return 'it is installed here; log in with "tailscale up", and on the phone'
    case 'no-https':
    case 'ready':
      return `it is logged in here as ${tailscale.name}; turn on HTTPS certificates in its admin console, under DNS`
  }
}

function certifiedName(folder: string, now: number): string | undefined {
  // Tailscale is asked itself.
  const names = filesIn(folder).flatMap(file =>
    /\.pem$/.test(file) && !/\.ts\.net\.pem$/.test(file) ? [file.slice(0, -'.pem'.length)] : []
  )
  return names.find(name => (new CertificateFile(folder, name).validity()?.until ?? 0) > now)
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
