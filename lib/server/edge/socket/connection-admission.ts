import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { networkOf, type PublicAddress, subnetOf, type TrustedProxies } from '../../address.ts'
import { addressOf } from '../http/request.ts'
import type { LargePacketSlots } from '../listen/large-packet-slots.ts'
import type { PacketSize } from '../listen/packet-sizes.ts'
import type { PreSignInSlot, PreSignInSlots } from '../listen/pre-sign-in-slots.ts'
import type { ProxyHint } from '../listen/proxy-hint.ts'
import type { Stranger, Strangers } from '../listen/strangers.ts'

interface AdmissionDeps {
  strangers: Strangers
  isProxy: TrustedProxies
  hint: ProxyHint
  preSignInSlots: PreSignInSlots
  largePacketSlots: Pick<LargePacketSlots, 'packetSizeFor'>
  corsOrigin: string
  publicAddress: PublicAddress
}

/** Admits new connections. */
export class ConnectionAdmission {
  readonly #deps: AdmissionDeps

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
  }

  /**
   * Calls `ready` once, with the packet size that the connection may start with. The returned function cancels
   * the wait.
   */
  choosePacketSize(admitted: AdmittedConnection, ready: (packetSize: PacketSize) => void): () => void {
    const { strangers, preSignInSlots, largePacketSlots } = this.#deps
    const from = subnetOf(admitted.address)
    const packetSize = largePacketSlots.packetSizeFor(admitted.network)
    if (packetSize === 'small' || !strangers.maySendLarge(from)) {
      ready('small')
      return () => {}
    }
    return preSignInSlots.enter(from, packetSize, slot => {
      admitted.preSignInSlot = slot
      slot?.whenLate(() => {
        strangers.bar(from)
        admitted.onLate()
      })
      ready(slot?.packetSize ?? 'small')
    })
  }

  /** Undefined for a page that may not call this server. */
  begin(response: HttpResponse, request: HttpRequest): AdmittedConnection | undefined {
    const page = this.#pageOf(request)
    if (page !== '' && this.#deps.corsOrigin !== '*') return undefined
    const address = addressOf(response, request, this.#deps.isProxy)
    this.#deps.hint(address, request)
    return new AdmittedConnection(address, page, this.#deps)
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
      host !== undefined &&
      (host === this.#deps.publicAddress.url?.host || host === hostOf(`${origin.split(':', 1)}://${request.getHeader('host')}`))
    return isOwn ? '' : origin.slice(0, mostOriginLength)
  }
}

const mostOriginLength = 200

// A proxy may terminate HTTPS, so the scheme is irrelevant.
function hostOf(url: string): string | undefined {
  return URL.parse(url)?.host
}

const nothing = () => {}

/** Where a connection comes from; unauthenticated until a sign-in. */
export class AdmittedConnection implements Stranger {
  readonly address: string
  readonly page: string
  /** While it may send large packets without a sign-in. */
  preSignInSlot: PreSignInSlot | undefined
  /** Called when it held such a slot for too long; what it sent must be dropped at once. */
  onLate: () => void = nothing
  /** Called when others need its slot; it must close. */
  onCrowded: () => void = nothing
  readonly #deps: Pick<AdmissionDeps, 'strangers' | 'preSignInSlots'>

  constructor(address: string, page: string, deps: Pick<AdmissionDeps, 'strangers' | 'preSignInSlots'>) {
    this.address = address
    this.page = page
    this.#deps = deps
    deps.strangers.come(this)
  }

  get network(): string {
    return networkOf(this.address)
  }

  makeRoom(): void {
    this.onCrowded()
  }

  /** Signed in: it counts for its account, and no longer for its address. */
  signedIn(): void {
    this.preSignInSlot?.leave()
    // Whatever began the connection, up to its HTTP request, would stay in memory with these for as long as it lasts.
    this.preSignInSlot = undefined
    this.onLate = nothing
    this.onCrowded = nothing
    this.#deps.strangers.leave(this)
    this.#deps.strangers.know(subnetOf(this.address))
  }

  /** They left it, and it stays open, unless there is no slot for packets of that size; `makeRoom` ends it when others need its place. */
  signedOut(packetSize: PacketSize, makeRoom: () => void): boolean {
    this.onCrowded = makeRoom
    this.#deps.strangers.come(this)
    if (packetSize === 'small') return true
    this.preSignInSlot = this.#deps.preSignInSlots.stay(subnetOf(this.address), packetSize, makeRoom)
    return this.preSignInSlot !== undefined
  }

  leave(): void {
    this.preSignInSlot?.leave()
    this.#deps.strangers.leave(this)
  }
}
