import type { Clock } from '../../async/clock.ts'
import { type Logger, noteOf } from '../watch/log.ts'
import type { CertificateFile, Validity } from './certificate-file.ts'

/** Where a certificate comes from. */
export interface Source {
  /** The host name that it is for. */
  name: string
  /** In a sentence: `Let's Encrypt`. */
  authority: string
  /** PEM of the chain and the key. `isTried` is true once an order of this source has succeeded. */
  obtain(isTried: boolean, signal: AbortSignal): Promise<string>
}

interface RenewalDeps {
  clock: Clock
  now: () => number
  log: Logger
  tell: (sentence: string) => void
  random?: () => number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const firstWaitMs = 5 * minuteMs
const longestWaitMs = 12 * hourMs
/** Timers do not run while a computer sleeps, so the date is checked this often. */
const lookMs = hourMs

/**
 * Gets the certificate and replaces it in time: when a third of its life is left, a little earlier by chance so that not
 * everyone asks at once. After a failure it waits five minutes, then twice as long each time, up to half a day; the file keeps
 * what it had.
 */
export class CertificateRenewal {
  readonly #source: Source
  readonly #file: CertificateFile
  readonly #deps: Required<RenewalDeps>
  readonly #ending = new AbortController()
  readonly #chance: number
  #isTried: boolean
  #failures = 0
  #cancel = () => {}
  #running: Promise<void> = Promise.resolve()

  constructor(source: Source, file: CertificateFile, deps: RenewalDeps) {
    this.#source = source
    this.#file = file
    this.#deps = { random: Math.random, ...deps }
    this.#chance = this.#deps.random()
    this.#isTried = file.validity() !== undefined
    this.#look()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#cancel()
    await this.#running
    this.#cancel()
  }

  #look(): void {
    const waitMs = dueAt(this.#file.validity(), this.#chance) - this.#deps.now()
    if (waitMs > 0) this.#later(Math.min(waitMs, lookMs), () => this.#look())
    else this.#running = this.#renew()
  }

  #later(ms: number, run: () => void): void {
    this.#cancel = this.#deps.clock.after(ms, run)
  }

  async #renew(): Promise<void> {
    const { now, log, tell } = this.#deps
    const { name, authority } = this.#source
    try {
      this.#file.replace(await this.#source.obtain(this.#isTried, this.#ending.signal))
      const validity = this.#file.validity()
      if (!validity) throw new Error(`What ${authority} issued is no certificate for ${name}.`)
      this.#isTried = true
      this.#failures = 0
      log.info({}, 'Got a new certificate')
      tell(
        `The certificate for ${name} from ${authority} is here, valid until ${dayOf(validity.until)}. It is in use within half a minute.`
      )
      // Not sooner, even if the authority issues only short ones.
      this.#later(lookMs, () => this.#look())
    } catch (error) {
      if (this.#ending.signal.aborted) return
      const waitMs = this.#nextWait()
      // A broken setup is tried out again before it counts at the authority.
      this.#isTried = false
      log.error({ error: noteOf(error) }, 'No new certificate; the old one stays in use')
      tell(`No certificate for ${name}: ${error instanceof Error ? error.message : error} Next try at ${timeOf(now() + waitMs)}.`)
      this.#later(waitMs, () => this.#look())
    }
  }

  #nextWait(): number {
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures++)
    return waitMs * (1 + this.#deps.random() / 4)
  }
}

/** Now, if there is none. */
function dueAt(validity: Validity | undefined, chance: number): number {
  if (!validity) return Number.NEGATIVE_INFINITY
  const lifeMs = validity.until - validity.from
  return validity.until - lifeMs / 3 - chance * (lifeMs / 30)
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, 5)
}
