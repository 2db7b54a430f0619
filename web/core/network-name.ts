/**
 * The network in which the server saw a device, in the usual notation; the server stores no more of an address. Undefined for the server's
 * own computer: such a device runs there, or behind a proxy that the server does not trust.
 */
export function networkName(kept: string): string | undefined {
  if (/^127\.\d+\.\d+$/.test(kept) || kept === '0000:0000:0000:00') return undefined
  if (/^\d+\.\d+\.\d+$/.test(kept)) return `${kept}.0/24`
  if (!/^[\da-f]{4}:[\da-f]{4}:[\da-f]{4}:[\da-f]{2}$/.test(kept)) return kept
  const groups = `${kept}00`.split(':').map(group => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':').replace(/(:0)+$/, '')}::/56`
}
