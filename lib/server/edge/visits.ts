import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, subnetOf, type TrustedProxies } from '../address.ts'
import type { Seats } from '../limits.ts'
import type { Visit } from './engineio.ts'
import { addressOf } from './request.ts'
import type { Strangers } from './strangers.ts'

/** Lets connections begin, so many from one address at once. */
export class Visits {
  private readonly seats: Seats
  private readonly strangers: Strangers
  private readonly isProxy: TrustedProxies

  constructor(seats: Seats, strangers: Strangers, isProxy: TrustedProxies) {
    this.seats = seats
    this.strangers = strangers
    this.isProxy = isProxy
  }

  /** Whether somebody who signed in asks, or their neighbour. */
  isKnown(response: HttpResponse, request: HttpRequest): boolean {
    return this.strangers.isKnown(subnetOf(addressOf(response, request, this.isProxy)))
  }

  /** Undefined when all seats of the address are taken, or those of strangers. */
  begin(response: HttpResponse, request: HttpRequest): Visit | undefined {
    const address = addressOf(response, request, this.isProxy)
    const subnet = subnetOf(address)
    const stranger = this.strangers.come(subnet)
    const leaveSeat = stranger && this.seats.take(subnet)
    if (!leaveSeat) {
      stranger?.left()
      return undefined
    }
    const leave = () => {
      stranger.left()
      leaveSeat()
    }
    return { network: networkOf(address), signedIn: stranger.signedIn, leave }
  }
}
