import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createBackoff } from '../../async/backoff.ts'
import type { Clock } from '../../async/clock.ts'
import { CannotStart } from '../../exit.ts'
import { helpCommand } from '../../help-pages.ts'
import { findProgram } from '../../program-in-path.ts'
import { foreignEnvironment } from '../foreign-program.ts'
import type { Logger } from '../watch/log.ts'
import { tunnelKinds } from './kinds.ts'

interface TunnelDeps {
  /** Of this server, on the loopback address. */
  port: number
  clock: Clock
  log: Logger
  tell: (sentence: string) => void
  /** Called with the public address, and again when a restarted program got another one. */
  onAddress(url: string): void
}

const addressWithinMs = 30_000
const backoffLimits = { firstMs: 2_000, longestMs: 60_000 }
/** A program that ran this long works; its next end is not part of a series. */
const worksAfterMs = 60_000
const endWithinMs = 5_000

/** Throws CannotStart if the program is not installed. */
export function refuseMissingProgram(kind: keyof typeof tunnelKinds): void {
  const { program, install } = tunnelKinds[kind]
  if (findProgram(program, process.env)) return
  throw new CannotStart(
    `There is no program ${program}, which --tunnel starts: install it (${install}), or see other ways with: ${helpCommand('https')}`
  )
}

/**
 * Runs the program until it is closed, starting it again whenever it ends. Throws CannotStart if it cannot
 * be started.
 */
export async function openTunnel(kind: keyof typeof tunnelKinds, deps: TunnelDeps): Promise<Tunnel> {
  const tunnel = new Tunnel(kind, deps)
  await tunnel.start()
  return tunnel
}

class Tunnel {
  readonly #kind: (typeof tunnelKinds)[keyof typeof tunnelKinds]
  readonly #deps: TunnelDeps
  readonly #addressed = Promise.withResolvers<void>()
  readonly #backoff = createBackoff(backoffLimits)
  #cancel: () => void
  #child: ChildProcess | undefined
  #ended = Promise.resolve()
  #isClosed = false
  #address: string | undefined

  constructor(kind: keyof typeof tunnelKinds, deps: TunnelDeps) {
    this.#kind = tunnelKinds[kind]
    this.#deps = deps
    this.#cancel = () => {}
  }

  /** Resolves once the address is known, after half a minute without one, and when the tunnel is closed. */
  get addressed(): Promise<void> {
    return this.#addressed.promise
  }

  async start(): Promise<void> {
    try {
      await this.#spawn()
    } catch (error) {
      throw new CannotStart(refusalOf(this.#kind, error), undefined, { cause: error })
    }
    const cancel = this.#deps.clock.after(addressWithinMs, () => {
      this.#deps.tell(`${this.#kind.program} has no address yet; it is printed when it comes.`)
      this.#addressed.resolve()
    })
    void this.#addressed.promise.then(cancel)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#addressed.resolve()
    this.#cancel()
    const child = this.#child
    child?.kill()
    const cancelKill = this.#deps.clock.after(endWithinMs, () => child?.kill('SIGKILL'))
    await this.#ended
    cancelKill()
  }

  /** Rejects if the program cannot be started. */
  async #spawn(): Promise<void> {
    const { program, args } = this.#kind
    const beganAt = this.#deps.clock.now()
    const child = spawn(program, args(this.#deps.port), { stdio: ['ignore', 'pipe', 'pipe'], env: foreignEnvironment() })
    this.#child = child
    let lastLine = ''
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', line => {
        if (line.trim() !== '') lastLine = line.trim().slice(0, 300)
        this.#hear(line)
      })
    }
    const ended = new Promise(resolve => child.once('close', resolve))
    await once(child, 'spawn')
    this.#ended = ended.then(() => {
      if (this.#deps.clock.now() - beganAt >= worksAfterMs) this.#backoff.reset()
      this.#again(lastLine)
    })
  }

  #hear(line: string): void {
    const { program, addressIn, isForPerson } = this.#kind
    const url = addressIn(line)
    if (url === undefined) {
      if (isForPerson(line)) this.#deps.tell(`${program}: ${line.trim()}`)
      return
    }
    if (url !== this.#address) {
      this.#address = url
      this.#deps.onAddress(url)
      this.#deps.tell(`The tunnel is open: ${url}`)
    }
    this.#addressed.resolve()
  }

  #again(reason: string): void {
    if (this.#isClosed) return
    const waitMs = Math.ceil(this.#backoff.nextMs() / 1000) * 1000
    this.#deps.log.warn({ ms: waitMs }, 'The tunnel ended and is started again')
    this.#deps.tell(`${this.#kind.program} ended, and is started again in ${waitMs / 1000} s: ${reason || 'it gave no reason'}`)
    this.#cancel = this.#deps.clock.after(waitMs, () => {
      this.#spawn().catch(error => this.#again(error.message))
    })
  }
}

function refusalOf({ program }: (typeof tunnelKinds)[keyof typeof tunnelKinds], error: unknown): string {
  return `The program ${program} cannot be started (${(error as NodeJS.ErrnoException).code}); see other ways with: ${helpCommand('https')}`
}
