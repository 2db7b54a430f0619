import type { Bearer } from '../../actions/sign-in/authenticate.ts'
import { subnetOf } from '../../address.ts'
import { isOfBytes, type LimitName, type Limits, leastBytes, limits } from '../../limits.ts'
import type { Sender } from './request.ts'

/** What one request is counted against, as the table of limits says. */
export class Allowance {
  readonly #counter: Limits
  readonly #names: readonly LimitName[]
  readonly #sender: Sender
  readonly #isKnown: (network: string) => boolean

  /** `isKnown` says of a network whether a valid token came from it. */
  constructor(counter: Limits, names: readonly LimitName[], sender: Sender, isKnown: (network: string) => boolean) {
    this.#counter = counter
    this.#names = names
    this.#sender = sender
    this.#isKnown = isKnown
  }

  /**
   * Before its body is taken; throws the refusal, and then counts nothing. A body counts with the length it says, so that many
   * that arrive at once do not all find the allowance whole.
   */
  open(bearer: Bearer | undefined, announced: number): void {
    for (const name of this.#names) this.#counter.check(name, this.#keyOf(name, bearer))
    for (const name of this.#names) if (!isOfBytes(name)) this.#counter.charge(name, this.#keyOf(name, bearer), 1)
    this.#chargeBytes(bearer, Math.max(announced, leastBytes))
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
        // However large a crowd, it leaves those who have been here before what is theirs.
        return this.#isKnown(subnetOf(this.#sender.address)) ? 'known' : ''
      default:
        return ''
    }
  }
}
