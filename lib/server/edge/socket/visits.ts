import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, subnetOf, type TrustedProxies } from '../../address.ts'
import { addressOf } from '../http/request.ts'
import type { LargePlaces } from '../listen/large-places.ts'
import type { ProxyHint } from '../listen/proxy-hint.ts'
import type { Comer, Strangers } from '../listen/strangers.ts'
import type { WidePlace, WidePlaces } from '../listen/wide-places.ts'
import type { Width } from '../listen/widths.ts'

interface VisitsDeps {
  strangers: Strangers
  isProxy: TrustedProxies
  hint: ProxyHint
  widePlaces: WidePlaces
  largePlaces: Pick<LargePlaces, 'widthFor'>
  corsOrigin: string
  publicUrl?: string | undefined
}

/** Admits new connections. */
export class Visits {
  readonly #deps: VisitsDeps
  readonly #publicHost: string | undefined

  constructor(deps: VisitsDeps) {
    this.#deps = deps
    this.#publicHost = hostOf(deps.publicUrl ?? '')
  }

  /**
   * Calls `ready` once, with the packet size that the visit may start with. The returned function cancels
   * the wait.
   */
  widen(visit: Visit, ready: (width: Width) => void): () => void {
    const { strangers, widePlaces, largePlaces } = this.#deps
    const from = subnetOf(visit.address)
    const width = largePlaces.widthFor(visit.network)
    if (width === 'narrow' || !strangers.mayBeWide(from)) {
      ready('narrow')
      return () => {}
    }
    return widePlaces.enter(from, width, place => {
      visit.widePlace = place
      place?.whenLate(() => {
        strangers.bar(from)
        visit.onLate()
      })
      ready(place?.width ?? 'narrow')
    })
  }

  /** Undefined for a page that may not call this server. */
  begin(response: HttpResponse, request: HttpRequest): Visit | undefined {
    const page = this.#pageOf(request)
    if (page !== '' && this.#deps.corsOrigin !== '*') return undefined
    const address = addressOf(response, request, this.#deps.isProxy)
    this.#deps.hint(address, request)
    return new Visit(address, page, this.#deps)
  }

  /**
   * The origin of a page of another site; empty for our own app, for the site named by the operator, and
   * for programs, which send none.
   */
  #pageOf(request: HttpRequest): string {
    const origin = request.getHeader('origin')
    if (origin === '' || origin === this.#deps.corsOrigin) return ''
    const host = hostOf(origin)
    const isOwn =
      host !== undefined && (host === this.#publicHost || host === hostOf(`${origin.split(':', 1)}://${request.getHeader('host')}`))
    return isOwn ? '' : origin.slice(0, mostOriginLength)
  }
}

const mostOriginLength = 200

// A proxy may terminate HTTPS, so the scheme is irrelevant.
function hostOf(url: string): string | undefined {
  return URL.parse(url)?.host
}

/** Where a connection comes from; unauthenticated until a sign-in. */
export class Visit implements Comer {
  readonly address: string
  readonly page: string
  /** While it may send large packets without a sign-in. */
  widePlace: WidePlace | undefined
  /** Called when it held such a place for too long; what it sent must be dropped at once. */
  onLate: () => void = () => {}
  /** Called when others need its place; it must close. */
  onCrowded: () => void = () => {}
  readonly #strangers: Strangers
  readonly #widePlaces: WidePlaces

  constructor(address: string, page: string, { strangers, widePlaces }: Pick<VisitsDeps, 'strangers' | 'widePlaces'>) {
    this.address = address
    this.page = page
    this.#strangers = strangers
    this.#widePlaces = widePlaces
    strangers.come(this)
  }

  get network(): string {
    return networkOf(this.address)
  }

  makeRoom(): void {
    this.onCrowded()
  }

  /** Signed in: it counts for its account, and no longer for its address. */
  signedIn(): void {
    this.widePlace?.leave()
    this.#strangers.leave(this)
    this.#strangers.know(subnetOf(this.address))
  }

  /** They left it, and it stays open, unless there is no place for packets of that width; `makeRoom` ends it when others need the place. */
  signedOut(width: Width, makeRoom: () => void): boolean {
    this.#strangers.come(this)
    if (width === 'narrow') return true
    this.widePlace = this.#widePlaces.stay(subnetOf(this.address), width, makeRoom)
    return this.widePlace !== undefined
  }

  leave(): void {
    this.widePlace?.leave()
    this.#strangers.leave(this)
  }
}
