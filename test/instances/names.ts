/**
 * Everything that is written has a name, `<writer>.<number>`, and each writer counts its own from 0. As one number it takes
 * eight bytes, and the content follows from it.
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

const filler = 'x'.repeat(80_000)

/** Most are small; some are larger than what a bus carries as a whole. */
export function contentOf(name: Name): string {
  return `${textOf(name)} ${filler.slice(0, sizeOf(name))}`
}

/** As a comparison with that, which would write it once more for everybody who is shown it. */
export function isContentOf(name: Name, content: string): boolean {
  const text = `${textOf(name)} `
  const size = sizeOf(name)
  return content.length === text.length + size && content.startsWith(text) && content.endsWith(filler.slice(0, size))
}

function sizeOf(name: Name): number {
  const mixed = Math.imul(numberOf(name) + 1, 0x9e3779b1) ^ Math.imul(writerOf(name) + 1, 0x85ebca6b)
  const share = (mixed >>> 8) % 512
  return share === 0 ? 80_000 : share < 8 ? 9_000 : 20 + (share % 300)
}
