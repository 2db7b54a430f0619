import type { Clock } from '../../../async/clock.ts'
import type { PacketSize } from './packet-sizes.ts'

/** How many signed-in sockets may send large packets: of all accounts, and of one. */
const most = {
  usual: { inAll: 128, ofAccount: 64 },
  large: { inAll: 6, ofAccount: 3 }
} as const
/** A client that wants a slot reconnects within this time. */
const wantedForMs = 60_000
const mostWanting = 1_000
/** A slot without large packets for this long is given to a client that wants one. */
const unusedMs = 20_000
/** So is a slot held for this long, however it is used. */
const heldMs = 120_000

type LargePacketSize = Exclude<PacketSize, 'small'>

/** For a signed-in socket that may send large packets. */
export class LargePacketSlot {
  readonly account: string
  readonly packetSize: LargePacketSize
  /** Others need the slot: the socket is closed at once. */
  readonly makeRoom: () => void
  readonly since: number
  usedAt: number
  readonly #slots: LargePacketSlots

  constructor(
    { account, packetSize, makeRoom }: Pick<LargePacketSlot, 'account' | 'packetSize' | 'makeRoom'>,
    now: number,
    slots: LargePacketSlots
  ) {
    this.account = account
    this.packetSize = packetSize
    this.makeRoom = makeRoom
    this.since = now
    this.usedAt = now
    this.#slots = slots
  }

  /** A packet arrived that is too large for a socket without one. */
  use(): void {
    this.#slots.use(this)
  }

  /** The socket has closed. */
  leave(): void {
    this.#slots.leave(this)
  }
}

/**
 * Who may send large packets after the sign-in, and how large. Anyone who may can begin one that never
 * ends, and most clients never need it. So only a few get slots for the largest, after a socket of their
 * network was closed for a packet too large for it; and when all accounts together have many sockets, new
 * ones get the usual ones in the same way.
 */
export class LargePacketSlots {
  readonly #clock: Pick<Clock, 'now'>
  readonly #isOff: boolean
  /** The longest unused first. */
  readonly #held: Record<LargePacketSize, Set<LargePacketSlot>> = { usual: new Set(), large: new Set() }
  /** Without limits nobody makes room, so that one slot is enough for all. */
  readonly #ofAll = new LargePacketSlot({ account: '', packetSize: 'large', makeRoom() {} }, 0, this)
  /** What a client of a network wants, and until when that counts. */
  readonly #wanted = new Map<string, { packetSize: LargePacketSize; until: number }>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Pick<Clock, 'now'> }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
  }

  /** A signed-in client there sent a packet too large for its socket. */
  want(network: string, packetSize: LargePacketSize): void {
    this.#wanted.delete(network)
    this.#wanted.set(network, { packetSize, until: this.#clock.now() + wantedForMs })
    if (this.#wanted.size <= mostWanting) return
    for (const oldest of this.#wanted.keys()) {
      this.#wanted.delete(oldest)
      return
    }
  }

  /** The packet size with which a socket from there starts, once signed in. */
  packetSizeFor(network: string): PacketSize {
    if (this.#isOff) return 'large'
    const wanted = this.#wanted.get(network)
    if (wanted && wanted.until > this.#clock.now()) return wanted.packetSize
    return this.#held.usual.size < most.usual.inAll ? 'usual' : 'small'
  }

  /** Undefined if all slots of the account are in use: then no client of the network starts with one for now. */
  take({
    network,
    ...who
  }: Pick<LargePacketSlot, 'account' | 'packetSize' | 'makeRoom'> & { network: string }): LargePacketSlot | undefined {
    if (this.#isOff) return this.#ofAll
    if (!this.#hasRoom(who)) {
      this.#wanted.delete(network)
      return undefined
    }
    const slot = new LargePacketSlot(who, this.#clock.now(), this)
    this.#held[who.packetSize].add(slot)
    return slot
  }

  use(slot: LargePacketSlot): void {
    slot.usedAt = this.#clock.now()
    // A client that left is not expected to return.
    if (this.#held[slot.packetSize].delete(slot)) this.#held[slot.packetSize].add(slot)
  }

  leave(slot: LargePacketSlot): void {
    this.#held[slot.packetSize].delete(slot)
  }

  #hasRoom({ account, packetSize }: Pick<LargePacketSlot, 'account' | 'packetSize'>): boolean {
    const all = [...this.#held[packetSize]]
    const own = all.filter(slot => slot.account === account)
    if (own.length >= most[packetSize].ofAccount) return this.#frees(own, own.length)
    return all.length < most[packetSize].inAll || this.#frees(all, own.length)
  }

  /** Whether one can be reclaimed: one long unused, or of the account with the most, or long held. */
  #frees(held: readonly LargePacketSlot[], own: number): boolean {
    const now = this.#clock.now()
    const [first] = held
    const found =
      first && now - first.usedAt >= unusedMs ? first : (ofLargest(held, own + 1) ?? held.find(({ since }) => now - since >= heldMs))
    if (!found) return false
    this.leave(found)
    found.makeRoom()
    return true
  }
}

/** The first of the account with the most, if that has more than this. */
function ofLargest(held: readonly LargePacketSlot[], than: number): LargePacketSlot | undefined {
  const counts = new Map<string, number>()
  for (const { account } of held) counts.set(account, (counts.get(account) ?? 0) + 1)
  let largest: string | undefined
  let count = than
  for (const [account, of] of counts) {
    if (of > count) [largest, count] = [account, of]
  }
  return held.find(({ account }) => account === largest)
}
