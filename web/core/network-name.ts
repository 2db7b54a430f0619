/**
 * The network that the server saw a device in, as one writes a network; it keeps no more of an address than that. Undefined for the server's
 * own computer: such a device runs there too, or a proxy does that the server does not believe.
 */
export function networkName(kept: string): string | undefined {
  if (/^127\.\d+\.\d+$/.test(kept) || kept === '0000:0000:0000:00') return undefined
  if (/^\d+\.\d+\.\d+$/.test(kept)) return `${kept}.0/24`
  if (!/^[\da-f]{4}:[\da-f]{4}:[\da-f]{4}:[\da-f]{2}$/.test(kept)) return kept
  const groups = `${kept}00`.split(':').map(group => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':').replace(/(:0)+$/, '')}::/56`
}
