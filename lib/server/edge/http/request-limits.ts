import type { Bearer } from '../../actions/sign-in/authenticate.ts'
import { subnetOf } from '../../address.ts'
import { isOfBytes, type LimitName, type Limits, leastBytes, limits } from '../../limits.ts'
import type { Sender } from './request.ts'

/** The limits that one request counts against, from the table of limits. */
export class RequestLimits {
  readonly #counter: Limits
  readonly #names: readonly LimitName[]
  readonly #sender: Sender
  readonly #isKnown: (network: string) => boolean

  /** `isKnown` says whether a valid token came from a network. */
  constructor(counter: Limits, names: readonly LimitName[], sender: Sender, isKnown: (network: string) => boolean) {
    this.#counter = counter
    this.#names = names
    this.#sender = sender
    this.#isKnown = isKnown
  }

  /**
   * Before its body is accepted; throws the error, and then counts nothing. A body counts with its declared
   * length, so that many concurrent ones do not all find the full allowance.
   */
  open(bearer: Bearer | undefined, announced: number): void {
    for (const name of this.#names) this.#counter.check(name, this.#keyOf(name, bearer))
    for (const name of this.#names) if (!isOfBytes(name)) this.#counter.charge(name, this.#keyOf(name, bearer), 1)
    this.#chargeBytes(bearer, Math.max(announced, leastBytes))
  }

  /** Throws the refusal when the bytes are used up. */
  checkBytes(bearer: Bearer | undefined): void {
    for (const name of this.#names) if (isOfBytes(name)) this.#counter.check(name, this.#keyOf(name, bearer))
  }

  answered(bearer: Bearer | undefined, bytes: number): void {
    this.#chargeBytes(bearer, bytes)
  }

  #chargeBytes(bearer: Bearer | undefined, bytes: number): void {
    for (const name of this.#names) if (isOfBytes(name)) this.#counter.charge(name, this.#keyOf(name, bearer), bytes)
  }

  #keyOf(name: LimitName, bearer: Bearer | undefined): string {
    switch (limits[name].by) {
      case 'account':
        return bearer?.account ?? ''
      case 'address':
        return subnetOf(this.#sender.address)
      case 'server':
        // A crowd of any size leaves known networks their share.
        return this.#isKnown(subnetOf(this.#sender.address)) ? 'known' : ''
      default:
        return ''
    }
  }
}
