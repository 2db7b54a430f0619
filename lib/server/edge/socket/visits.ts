import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, subnetOf, type TrustedProxies } from '../../address.ts'
import { addressOf } from '../http/request.ts'
import type { ProxyHint } from '../listen/proxy-hint.ts'
import type { Comer, Strangers } from '../listen/strangers.ts'
import type { WidePlace, WidePlaces } from '../listen/wide-places.ts'

export interface VisitsDeps {
  strangers: Strangers
  isProxy: TrustedProxies
  hint: ProxyHint
  widePlaces: WidePlaces
  corsOrigin: string
  publicUrl?: string | undefined
}

/** Lets connections begin. */
export class Visits {
  private readonly deps: VisitsDeps
  private readonly publicHost: string | undefined

  constructor(deps: VisitsDeps) {
    this.deps = deps
    this.publicHost = hostOf(deps.publicUrl ?? '')
  }

  /** Whether who asks may begin with large packets, once there is a place. */
  mayBeWide(response: HttpResponse, request: HttpRequest): boolean {
    return this.deps.strangers.mayBeWide(subnetOf(addressOf(response, request, this.deps.isProxy)))
  }

  /** Calls `ready` once, with whether the visit may begin with large packets. The returned function gives up waiting. */
  widen(visit: Visit, ready: (isWide: boolean) => void): () => void {
    const from = subnetOf(visit.address)
    return this.deps.widePlaces.enter(from, place => {
      visit.widePlace = place
      place?.whenLate(() => {
        this.deps.strangers.bar(from)
        visit.onLate()
      })
      ready(place !== undefined)
    })
  }

  /** Undefined for a page that may not call this server. */
  begin(response: HttpResponse, request: HttpRequest): Visit | undefined {
    const page = this.pageOf(request)
    if (page !== '' && this.deps.corsOrigin !== '*') return undefined
    const address = addressOf(response, request, this.deps.isProxy)
    this.deps.hint(address, request)
    return new Visit(address, page, this.deps.strangers)
  }

  /** The origin of a page of another site; empty for our own app, for the site the operator named, and for programs, which name none. */
  private pageOf(request: HttpRequest): string {
    const origin = request.getHeader('origin')
    if (origin === '' || origin === this.deps.corsOrigin) return ''
    const host = hostOf(origin)
    const isOwn =
      host !== undefined && (host === this.publicHost || host === hostOf(`${origin.split(':', 1)}://${request.getHeader('host')}`))
    return isOwn ? '' : origin.slice(0, mostOriginLength)
  }
}

const mostOriginLength = 200

// A proxy may speak HTTPS for us, so the scheme tells nothing.
function hostOf(url: string): string | undefined {
  return URL.parse(url)?.host
}

/** Where a connection comes from; a stranger's until somebody signs in on it. */
export class Visit implements Comer {
  readonly address: string
  readonly page: string
  /** While it may send large packets and nobody has signed in on it. */
  widePlace: WidePlace | undefined
  /** Called when it held such a place for too long; what it sent must be let go at once. */
  onLate: () => void = () => {}
  /** Called when others need its place; it must end. */
  onCrowded: () => void = () => {}
  private readonly strangers: Strangers

  constructor(address: string, page: string, strangers: Strangers) {
    this.address = address
    this.page = page
    this.strangers = strangers
    strangers.come(this)
  }

  get network(): string {
    return networkOf(this.address)
  }

  makeRoom(): void {
    this.onCrowded()
  }

  /** Somebody signed in on it: it counts to their account, and no longer to its address. */
  signedIn(): void {
    this.widePlace?.leave()
    this.strangers.leave(this)
    this.strangers.know(subnetOf(this.address))
  }

  /** They left it, and it stays open. */
  signedOut(): void {
    this.strangers.come(this)
  }

  leave(): void {
    this.widePlace?.leave()
    this.strangers.leave(this)
  }
}
