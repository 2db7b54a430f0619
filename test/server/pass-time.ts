import type { Socket } from 'socket.io-client'
import type { ManualClock } from '../kit/manual-clock.ts'

/** Moves the server's time on in steps, so that these connections answer the pings that fall due on the way. */
export async function passTime(clock: ManualClock, ms: number, ...sockets: Socket[]): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    clock.advance(Math.min(left, 10_000))
    // The answer to a heartbeat is on its way before this ping is, so it has arrived when this one is answered.
    for (const socket of sockets) if (socket.connected) await socket.emitWithAck('ping')
  }
}
