/**
 * Everything that is written has a name, `<writer>.<number>`, and each writer counts its own from 0. As one number it takes
 * eight bytes, so that a history of millions fits into memory; the content follows from it.
 */
export type Name = number

const numbersPerWriter = 2 ** 32

export function nameOf(writer: number, number: number): Name {
  return writer * numbersPerWriter + number
}

export function writerOf(name: Name): number {
  return Math.floor(name / numbersPerWriter)
}

export function numberOf(name: Name): number {
  return name % numbersPerWriter
}

export function textOf(name: Name): string {
  return `${writerOf(name)}.${numberOf(name)}`
}

/** Undefined if nobody here writes this. */
export function nameFrom(text: string | null): Name | undefined {
  const [, writer, number] = /^(\d+)\.(\d+)$/.exec(text ?? '') ?? []
  return number === undefined ? undefined : nameOf(Number(writer), Number(number))
}

/** Most are small; some are larger than what a bus carries as a whole. */
export function contentOf(name: Name): string {
  const mixed = Math.imul(numberOf(name) + 1, 0x9e3779b1) ^ Math.imul(writerOf(name) + 1, 0x85ebca6b)
  const share = (mixed >>> 8) % 512
  const size = share === 0 ? 80_000 : share < 8 ? 9_000 : 20 + (share % 300)
  return `${textOf(name)} ${'x'.repeat(size)}`
}
