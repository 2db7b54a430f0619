import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

const timeBytes = 6
const randomLength = 10
const macLength = 16

/** How long a nonce is good. */
export const nonceForMs = 60_000
/** On top of that, for the way. */
const slackMs = 5_000

/**
 * Nonces that carry their own time and proof of origin, so that nothing is stored for those who ask and do not come back:
 * time(6) ‖ random(10) ‖ HMAC(16). All instances of a server make and know the same ones; times are those of the store.
 */
interface Nonces {
  issue(now: number): Buffer
  /** Whether it was made here, not long ago. That it is used once is for the store to see. */
  isGood(nonce: Uint8Array, now: number): boolean
}

export function createNonces(serverSecret: Uint8Array): Nonces {
  // A purpose, a key: what is learned of one says nothing of another.
  const key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'afield nonce v2', 32))
  const mac = (head: Uint8Array) => createHmac('sha256', key).update(head).digest().subarray(0, macLength)

  return {
    issue(now) {
      const time = Buffer.alloc(timeBytes)
      time.writeUIntBE(Math.floor(now), 0, timeBytes)
      const head = Buffer.concat([time, randomBytes(randomLength)])
      return Buffer.concat([head, mac(head)])
    },
    isGood(nonce, now) {
      const head = Buffer.from(nonce.subarray(0, timeBytes + randomLength))
      const proof = nonce.subarray(timeBytes + randomLength)
      if (proof.length !== macLength || !timingSafeEqual(proof, mac(head))) return false
      const age = now - head.readUIntBE(0, timeBytes)
      return age > -slackMs && age < nonceForMs + slackMs
    }
  }
}
