import { isLoopback, type ServerOptions } from '../lib/options.ts'
import type { Server } from '../lib/server/create.ts'
import { reachableUrls } from '../lib/server/edge/listen/reachable-urls.ts'
import { typed } from '../lib/wrapper/home/own-process.ts'
import { codeWidth, drawQr } from '../lib/wrapper/terminal/qr.ts'
import { folded } from '../lib/wrapper/terminal/style.ts'
import type { Terminal } from '../lib/wrapper/terminal/terminal.ts'

type Screen = Pick<Terminal, 'isTTY' | 'columns'>
type Running = Pick<Server, 'url' | 'publicUrl' | 'setupCode'>

/** The first line of `afield serve`, as programs that start it read it too. */
export function listeningLine(server: Pick<Server, 'url'>): string {
  return `afield listening on ${reachableUrls(server.url).join('\n                 and ')}`
}

/**
 * What `afield serve` prints below that: the next two steps to the first message. A terminal also gets a code that a phone can
 * scan; if no phone can use the address, `advice` or the reason is shown instead.
 */
export function firstSteps(
  server: Running,
  { https, tunnel, data }: Pick<ServerOptions, 'https' | 'tunnel' | 'data'>,
  screen: Screen,
  advice: readonly { text: string; lines: readonly string[] }[] = []
): string {
  const home = server.publicUrl ?? reachableUrls(server.url)[0]
  const first = withSetupCode(home, server.setupCode, screen)
  const phones = isForPhones(home)
  const next = advice.length > 0 ? advice : [{ text: whyNotOnPhones(home, https === 'auto' || tunnel !== undefined), lines: [] }]
  return [
    '',
    ...sentences(`1. ${whatToOpen(server.setupCode !== undefined, phones, home, screen)}`, screen),
    `  ${first}`,
    ...setupCodeFile(server.setupCode, screen),
    ...(server.setupCode ? [...sentences(orRestore, screen), `  ${typed('restore')} <backup> --data ${data}`] : []),
    '',
    ...sentences(step2, screen),
    `  ${typed('claude')} --server ${home}`,
    `  ${typed('demo')} --server ${home}`,
    ...(phones
      ? code(first, screen)
      : ['', ...next.flatMap(({ text, lines }) => [...paragraph(text, screen), ...lines.map(line => `  ${line}`)])])
  ].join('\n')
}

const orRestore = 'To restore a backup instead, stop this server and run:'
const step2 =
  '2. On the computer where your agents work, start Claude Code, or the demo, a scripted agent. The command links that computer first.'

/** Browsers on phones allow encryption keys, the camera, installation and notifications only over HTTPS. */
function isForPhones(address: string): boolean {
  return address.startsWith('https:') && !isOnlyHere(address)
}

function isOnlyHere(address: string): boolean {
  return isLoopback(new URL(address).hostname.replace(/^\[|\]$/g, ''))
}

function whatToOpen(isFirst: boolean, phones: boolean, home: string, { isTTY }: Screen): string {
  const where = phones
    ? `on your phone${isTTY ? ', or scan the code below' : ''}`
    : `in a browser${isOnlyHere(home) ? ' on this computer' : ''}`
  return isFirst ? `Create your account: open this ${where}.` : `Open this ${where}.`
}

// Anyone with the code can become the owner: only a terminal shows it, a log gets its location.
function withSetupCode(address: string, setupCode: Running['setupCode'], { isTTY }: Screen): string {
  return setupCode && isTTY ? `${address}/#setup=${setupCode.code}` : address
}

function setupCodeFile(setupCode: Running['setupCode'], { isTTY }: Screen): string[] {
  return setupCode && !isTTY ? [`  The setup code is in ${setupCode.file}`] : []
}

function whyNotOnPhones(home: string, hasTried: boolean): string {
  if (home.startsWith('https:'))
    return `Phones cannot reach ${home}. Add --host 0.0.0.0, or --public-url with the address of a proxy in front.`
  if (hasTried) return 'Phones cannot reach the server yet; the reason is above.'
  return 'A phone cannot use this address: its browser requires HTTPS. Start the server with --https auto (for Tailscale, or a domain of your own), --tunnel cloudflared (for a try), or --tls-cert and --tls-key.'
}

/** Last, because the text above may scroll away on a low screen. */
function code(address: string, screen: Screen): string[] {
  if (!screen.isTTY) return []
  const lines = drawQr(address, screen)
  if (margin.length + codeWidth(lines) > screen.columns) return []
  return ['', ...lines.map(line => margin + line), '']
}

const margin = '  '

/** The lines of an item stand below its first word. */
function paragraph(text: string, { columns }: Pick<Screen, 'columns'>): string[] {
  const indent = text.startsWith('- ') ? '  ' : ''
  return sentences(text.slice(indent.length), { columns: columns - indent.length }).map(
    (line, row) => (row === 0 ? text.slice(0, indent.length) : indent) + line
  )
}

function sentences(text: string, { columns }: Pick<Screen, 'columns'>): string[] {
  return folded(text, columns).split('\n')
}
