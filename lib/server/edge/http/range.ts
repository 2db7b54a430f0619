/** From the first byte to the one before `end`. */
interface Range {
  start: number
  end: number
}

/**
 * The one range requested by a `Range` header of this many bytes. `whole`: it requests none, several, or in
 * an unknown form, and everything is sent. `outside`: it begins after the end.
 */
export function readRange(header: string, size: number): Range | 'whole' | 'outside' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') return Number(last) === 0 || size === 0 ? 'outside' : { start: Math.max(size - Number(last), 0), end: size }
  if (last !== '' && Number(last) < Number(first)) return 'whole'
  if (Number(first) >= size) return 'outside'
  return { start: Number(first), end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
