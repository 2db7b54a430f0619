import { fetch } from 'undici'
import { type PairingEnd, startPairing, type TerminalPairing } from '../client/pairing.ts'
import { Refused } from '../client/refusals.ts'
import { createRest } from '../client/rest.ts'
import type { TerminalKeys } from '../client/vault.ts'
import { cryptoReady } from '../crypto/ready.ts'
import { CannotStart } from '../exit.ts'
import { chooseServer, type Home } from './credentials.ts'
import { registerMachine } from './machine.ts'
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
  signal?: AbortSignal | undefined
}

/** Links this computer to an account: shows a code and waits until a phone answers it. Resolves to the exit code. */
export async function login({ home, server, env, terminal, forHappy, signal }: LoginOptions): Promise<number> {
  const chosen = chooseServer(server, env, home)
  const style = styleFor(terminal, env)
  await cryptoReady()
  let trouble: string | undefined
  const pairing = startPairing({
    server: chosen,
    fetch,
    onTrouble: now => {
      trouble = now
      block.redraw()
    }
  })
  const block = showCode(pairing, { chosen, style, terminal, forHappy, trouble: () => trouble })
  const end = await pairing.wait(signal).catch((error: unknown) => {
    throw error instanceof Refused ? new CannotStart(`${chosen} refused: ${error.message}`) : error
  })
  block.close()
  return finish(end)

  function finish(end: PairingEnd<TerminalKeys>): number {
    switch (end.type) {
      case 'expired':
        terminal.write('This code has ended: nobody answered it in time. Show a new one with: afield login\n')
        return 1
      case 'unreadable':
        terminal.write('The answer cannot be read: it was not made for this computer. Show a new code with: afield login\n')
        return 1
      case 'paired':
        home.saveCredentials({ server: chosen, token: end.token, keys: end.keys })
        home.rememberServer(chosen)
        welcome(end)
        return 0
    }
  }

  function welcome({ token, keys }: { token: string; keys: TerminalKeys }): void {
    // Only so that the app shows this computer at once; each session does it again.
    registerMachine(createRest({ server: chosen, token, fetch }), home, keys).catch(() => {})
    terminal.write(`${style.good('This computer is linked')} to your account on ${chosen}\n\n`)
    terminal.write('  afield claude            Claude Code, here and on your phone\n')
    terminal.write('  afield run -- <command>  any other agent that speaks ACP\n')
    terminal.write('  afield demo              a scripted agent, to try everything\n')
  }
}

function showCode(
  { link, happyLink }: TerminalPairing,
  {
    chosen,
    style,
    terminal,
    forHappy,
    trouble
  }: { chosen: string; style: Style; terminal: Terminal; forHappy: boolean; trouble(): string | undefined }
) {
  const qr = drawQr(forHappy ? happyLink : link, terminal)
  terminal.write(`\n  ${style.bold('Link this computer')} to your account on ${chosen}\n\n`)
  terminal.write(`  Scan this with ${forHappy ? 'the Happy app' : 'your phone'}:\n\n`)
  terminal.write(qr.map(line => `    ${line}\n`).join(''))
  terminal.write(`\n  Or open this address where you are signed in:\n\n  ${link}\n\n`)
  terminal.write(`  ${style.dim('In the Happy app:')}\n  ${happyLink}\n`)
  return openBlock(terminal, columns => {
    const problem = trouble()
    const line = problem === undefined ? 'Waiting for your answer. The code is good for five minutes.' : `${plain(problem)} Trying again.`
    return ['', `  ${problem === undefined ? style.dim(fit(line, columns - 3)) : style.needs(fit(line, columns - 3))}`, '']
  })
}
