import { locale } from './language.ts'

/** A data size in words: "12 kB", "3.4 MB". */
export function bytes(count: number): string {
  if (count < 1000) return sizes.byte.format(count)
  if (count < 1_000_000) return sizes.kilobyte.format(Math.round(count / 1000))
  return count < 1_000_000_000 ? sizes.megabyte.format(count / 1_000_000) : sizes.gigabyte.format(count / 1_000_000_000)
}

const size = (unit: string) => new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 })
const sizes = { byte: size('byte'), kilobyte: size('kilobyte'), megabyte: size('megabyte'), gigabyte: size('gigabyte') }
