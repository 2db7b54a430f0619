import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, subnetOf, type TrustedProxies } from '../address.ts'
import type { Seats } from '../limits.ts'
import type { ProxyHint } from './proxy-hint.ts'
import { addressOf } from './request.ts'
import type { Stranger, Strangers } from './strangers.ts'

/** Lets connections begin, so many from one address at once. */
export class Visits {
  private readonly seats: Seats
  private readonly strangers: Strangers
  private readonly isProxy: TrustedProxies
  private readonly hint: ProxyHint

  constructor({ seats, strangers, isProxy, hint }: { seats: Seats; strangers: Strangers; isProxy: TrustedProxies; hint: ProxyHint }) {
    this.seats = seats
    this.strangers = strangers
    this.isProxy = isProxy
    this.hint = hint
  }

  /** Whether somebody who signed in asks, or their neighbour. */
  isKnown(response: HttpResponse, request: HttpRequest): boolean {
    return this.strangers.isKnown(subnetOf(addressOf(response, request, this.isProxy)))
  }

  /** Undefined when all seats of the address are taken, or those of strangers. */
  begin(response: HttpResponse, request: HttpRequest): Visit | undefined {
    const address = addressOf(response, request, this.isProxy)
    this.hint(address, request)
    const subnet = subnetOf(address)
    const stranger = this.strangers.come(subnet)
    if (stranger && this.seats.take(subnet)) return new Visit(address, stranger, this.seats)
    stranger?.left()
    return undefined
  }
}

/** Where a connection comes from, and the seat it takes there until it ends. */
export class Visit {
  private readonly address: string
  private readonly stranger: Stranger
  private readonly seats: Seats

  constructor(address: string, stranger: Stranger, seats: Seats) {
    this.address = address
    this.stranger = stranger
    this.seats = seats
  }

  get network(): string {
    return networkOf(this.address)
  }

  /** Somebody signed in on it. */
  signedIn(): void {
    this.stranger.signedIn()
  }

  /** To be called once. */
  leave(): void {
    this.stranger.left()
    this.seats.leave(subnetOf(this.address))
  }
}
