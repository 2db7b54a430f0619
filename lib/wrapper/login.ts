import { hostname } from 'node:os'
import { fetch } from 'undici'
import { type PairingEnd, startPairing, type TerminalPairing } from '../client/pairing.ts'
import { Refused } from '../client/refusals.ts'
import { createRest } from '../client/rest.ts'
import type { TerminalKeys } from '../client/vault.ts'
import { cryptoReady } from '../crypto/ready.ts'
import { CannotStart } from '../exit.ts'
import { chooseServer, type Home } from './credentials.ts'
import { registerMachine } from './machine.ts'
import { typed } from './own-program.ts'
import { drawQr } from './terminal/qr.ts'
import { fit, plain, type Style, styleFor } from './terminal/style.ts'
import { openBlock, type Terminal } from './terminal/terminal.ts'

export interface LoginOptions {
  home: Home
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  /** Shows the code that existing apps of the Happy system scan. */
  forHappy: boolean
}

/** Links this computer to an account: shows a code and waits until a phone answers it. Resolves to the exit code. */
export async function login(options: LoginOptions): Promise<number> {
  const { home, env, terminal } = options
  const server = chooseServer(options.server, env, home)
  const style = styleFor(terminal, env)
  await cryptoReady()
  const end = await pair(server, style, options)
  switch (end.type) {
    case 'expired':
      terminal.write(`This code has ended: nobody answered it in time. Show a new one with: ${typed('login')}\n`)
      return 1
    case 'unreadable':
      terminal.write(`The answer cannot be read: it was not made for this computer. Show a new code with: ${typed('login')}\n`)
      return 1
    case 'paired':
      home.saveCredentials({ server, token: end.token, keys: end.keys })
      home.rememberServer(server)
      terminal.write(welcome(server, style))
      // So that the app shows this computer at once; each session does it again.
      await registerMachine(createRest({ server, token: end.token, fetch }), home, end.keys).catch(() => {})
      return 0
  }
}

type Progress = 'asking' | 'waiting' | 'over' | { trouble: string }

async function pair(server: string, style: Style, { terminal, forHappy }: LoginOptions): Promise<PairingEnd<TerminalKeys>> {
  let progress: Progress = 'asking'
  const pairing = startPairing({
    server,
    deviceName: hostname(),
    // A code is of use from the moment the server has heard of it.
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (response.ok) show('waiting')
      return response
    },
    onTrouble: trouble => trouble !== undefined && show({ trouble })
  })
  terminal.write(code(pairing, server, style, { isTTY: terminal.isTTY, forHappy }))
  const block = openBlock(terminal, columns => (progress === 'over' ? [] : [progressLine(progress, style, columns)]))
  const show = (now: Progress) => {
    progress = now
    block.redraw()
  }
  try {
    return await pairing.wait()
  } catch (error) {
    throw error instanceof Refused ? new CannotStart(`${server} refused: ${plain(error.message)}`) : error
  } finally {
    progress = 'over'
    block.close()
  }
}

function code({ link, happyLink }: TerminalPairing, server: string, style: Style, how: { isTTY: boolean; forHappy: boolean }): string {
  // The code comes last: on a terminal of 24 lines it just fits, and what is above it may scroll away.
  return [
    '',
    `  ${style.bold('Link this computer')} to your account on ${server}`,
    '',
    '  Open this address where you are signed in:',
    `  ${link}`,
    '',
    `  ${style.dim('In the Happy app:')} ${happyLink}`,
    '',
    `  Or scan this with ${how.forHappy ? 'the Happy app' : 'your phone'}:`,
    ...drawQr(how.forHappy ? happyLink : link, how).map(line => `  ${line}`),
    ''
  ].join('\n')
}

function progressLine(progress: Exclude<Progress, 'over'>, style: Style, columns: number): string {
  const room = columns - 3
  if (progress === 'asking') return `  ${style.dim(fit('Asking the server …', room))}`
  if (progress === 'waiting') return `  ${style.dim(fit('Waiting for your answer. The code is good for five minutes.', room))}`
  return `  ${style.needs(fit(`${plain(progress.trouble)} Trying again.`, room))}`
}

function welcome(server: string, style: Style): string {
  const next = [
    ['claude', 'Claude Code'],
    ['run -- <command>', 'any other agent that speaks ACP'],
    ['demo', 'a scripted agent, to try everything']
  ] as const
  const width = Math.max(...next.map(([command]) => typed(command).length))
  const lines = next.map(([command, what]) => `  ${typed(command).padEnd(width)}  ${what}`)
  return `${style.good('This computer is linked')} to your account on ${server}\n\n${lines.join('\n')}\n`
}
