import { ready } from '#crypto-engine'

/**
 * Awaited once at startup, before anything else from this folder is called: libsodium is WebAssembly
 * and compiles first.
 */
export function cryptoReady(): Promise<void> {
  return ready
}
