import { decodePortably, encodePortably } from '../../lib/crypto/base64.ts'
import { cryptoReady, engine, fromBase64, toBase64, verifySignature } from '../../lib/crypto/index.ts'
import { honestClaim, refusedDialects } from './dialects.ts'
import { checkVectors, type VectorCheck } from './vectors.ts'

export interface BrowserReport {
  vectors: number
  wrongVectors: VectorCheck[]
  isHonestAccepted: boolean
  acceptedDialects: string[]
  hasNativeBase64: boolean
  differingBase64: string[]
}

/** Everything a page can say about the crypto it was bundled with. */
export async function report(): Promise<BrowserReport> {
  await cryptoReady()
  const checks = checkVectors()
  return {
    vectors: checks.length,
    wrongVectors: checks.filter(({ actual, expected }) => actual !== expected),
    isHonestAccepted: verifySignature(honestClaim()),
    acceptedDialects: refusedDialects().flatMap(({ name, claim }) => (verifySignature(claim) ? [name] : [])),
    hasNativeBase64: Reflect.has(Uint8Array, 'fromBase64') && Reflect.has(Uint8Array.prototype, 'toBase64'),
    differingBase64: differingBase64()
  }
}

function differingBase64(): string[] {
  const encodings = Array.from({ length: 70 }, (_, length) => engine.randomBytes(length)).flatMap(bytes => {
    const text = toBase64(bytes)
    return text === encodePortably(bytes) ? [] : [`writes ${text}`]
  })
  const letters = ['A', 'B', 'Q', 'g', 'w', '+', '-', '/', '_']
  const bodies = letters.flatMap(one => [one, `A${one}`, `AA${one}`, `AAA${one}`, `AAAA${one}`, `AA${one}A`, `AAAAA${one}`])
  const decodings = bodies.flatMap(body => {
    const native = fromBase64(body)?.join()
    const portable = body.length % 4 === 1 ? undefined : decodePortably(body)?.join()
    return native === portable ? [] : [`reads ${body}`]
  })
  return [...encodings, ...decodings]
}
