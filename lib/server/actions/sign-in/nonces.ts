import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

const timeBytes = 6
const randomLength = 10
const macLength = 16

/** How long a nonce is valid. */
export const nonceForMs = 60_000
/** Added to that, for network delays. */
const slackMs = 5_000

/**
 * Nonces that contain their own time and proof of origin, so that nothing is stored for clients that do not
 * come back: time(6) ‖ random(10) ‖ HMAC(16). All instances of a server create and recognize the same ones;
 * times are those of the store.
 */
interface Nonces {
  issue(now: number): Buffer
  /** Whether it was made here recently. The store checks that it is used once. */
  isGood(nonce: Uint8Array, now: number): boolean
}

export function createNonces(serverSecret: Uint8Array): Nonces {
  // One derived key per purpose.
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
