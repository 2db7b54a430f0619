import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, subnetOf, type TrustedProxies } from '../address.ts'
import type { Seats } from '../limits.ts'
import type { Visit } from './engineio.ts'
import { addressOf } from './request.ts'

/** Lets connections begin, so many from one address at once. */
export class Visits {
  private readonly seats: Seats
  private readonly isProxy: TrustedProxies

  constructor(seats: Seats, isProxy: TrustedProxies) {
    this.seats = seats
    this.isProxy = isProxy
  }

  /** Undefined when all seats of the address are taken. */
  begin(response: HttpResponse, request: HttpRequest): Visit | undefined {
    const address = addressOf(response, request, this.isProxy)
    const leave = this.seats.take(subnetOf(address))
    return leave && { network: networkOf(address), leave }
  }
}
