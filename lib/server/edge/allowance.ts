import type { Bearer } from '../../store/store.ts'
import { subnetOf } from '../address.ts'
import { type LimitName, type Limits, leastMessageBytes, limits } from '../limits.ts'
import type { Sender } from './request.ts'

/** What one request is counted against, as the table of limits says. */
export class Allowance {
  private readonly counter: Limits
  private readonly names: readonly LimitName[]
  private readonly sender: Sender

  constructor(counter: Limits, names: readonly LimitName[], sender: Sender) {
    this.counter = counter
    this.names = names
    this.sender = sender
  }

  /** Before its body is taken; throws the refusal, and then counts nothing. What is counted by bytes is only looked at, since they are not known yet. */
  open(bearer: Bearer | undefined): void {
    for (const name of this.names) this.counter.check(name, this.keyOf(name, bearer))
    for (const name of this.names) if (name !== 'messageBytes') this.counter.charge(name, this.keyOf(name, bearer), 1)
  }

  asked(bearer: Bearer | undefined, bytes: number): void {
    this.charge(bearer, Math.max(bytes, leastMessageBytes))
  }

  answered(bearer: Bearer | undefined, bytes: number): void {
    this.charge(bearer, bytes)
  }

  private charge(bearer: Bearer | undefined, bytes: number): void {
    if (this.names.includes('messageBytes')) this.counter.charge('messageBytes', this.keyOf('messageBytes', bearer), bytes)
  }

  private keyOf(name: LimitName, bearer: Bearer | undefined): string {
    switch (limits[name].by) {
      case 'account':
        return bearer?.account ?? ''
      case 'address':
        return subnetOf(this.sender.address)
      default:
        return ''
    }
  }
}
