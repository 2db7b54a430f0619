import { isLoopback } from '../../options.ts'
import { typed } from '../home/own-process.ts'
import { codeWidth, drawQr } from '../terminal/qr.ts'
import { foldedIndented, type Style, widthOf } from '../terminal/style.ts'
import type { Terminal } from '../terminal/terminal.ts'

interface LinkScreen {
  server: string
  link: string
  /** The address at which phones reach the server of this computer, if it has one. */
  forPhones?: string | undefined
  /** `happy://…`, if Happy's apps can answer too. */
  happyLink?: string | undefined
  /** The QR code is theirs. */
  forHappy: boolean
  style: Style
  terminal: Pick<Terminal, 'isTTY' | 'columns' | 'rows'>
}

/** How a request is answered: by its address, and by a QR code if a phone can use one and it fits the screen. */
export function linkScreen({ server, link, forPhones, happyLink, forHappy, style, terminal }: LinkScreen): string {
  const scanned = forHappy ? happyLink : undefined
  const { hostname } = new URL(server)
  const isHere = isLoopback(hostname.replace(/^\[|\]$/g, ''))
  // The code comes last: it just fits a terminal of 24 lines, and text above it may scroll away.
  const beside = (label: string, what: string) => {
    const [first, second] = [`  ${style.dim(label)}`, `  ${what}`]
    return widthOf(`  ${label} ${what}`) <= terminal.columns ? [`${first} ${what}`] : [first, second]
  }
  return [
    '',
    foldedIndented(`Link this computer to your account on ${server}`, terminal.columns).replace(title, style.bold(title)),
    '',
    foldedIndented(
      `Open this address ${isHere ? 'in a browser on this computer' : 'on a device'} where you are signed in:`,
      terminal.columns
    ),
    `  ${link}`,
    '',
    ...(happyLink ? [...beside('In the Happy app:', happyLink), ''] : []),
    ...(isHere && !scanned ? notFromPhone(hostname, forPhones, terminal) : codeLines(scanned ?? link, forHappy, terminal)),
    ''
  ].join('\n')
}

const title = 'Link this computer'

function codeLines(link: string, forHappy: boolean, terminal: LinkScreen['terminal']): string[] {
  const code = drawQr(link, terminal)
  if (terminal.isTTY && !fits(code, terminal))
    return [foldedIndented('The window is too small for a code to scan: make it larger and run this again.', terminal.columns)]
  return [`  Or scan this with ${forHappy ? 'the Happy app' : 'your phone'}:`, ...code.map(line => `  ${line}`)]
}

/** Including the margin on its left, and the status line below it. */
function fits(code: readonly string[], { columns, rows }: LinkScreen['terminal']): boolean {
  return 2 + codeWidth(code) <= columns && code.length + 2 <= rows
}

function notFromPhone(hostname: string, forPhones = '<address>', { columns }: LinkScreen['terminal']): string[] {
  return [
    foldedIndented(`A phone cannot reach ${hostname}. To link with it, use the address at which the phone opens Afield:`, columns),
    `  ${typed(`login --server ${forPhones}`)}`,
    ''
  ]
}
