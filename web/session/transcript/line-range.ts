import type { Step } from '../../model/transcript/items.ts'

/** The first and the last line that a step read from a file; undefined if neither its result nor its arguments say so. */
export function linesRead({ name, args, content }: Pick<Step, 'name' | 'args' | 'content'>): readonly [number, number] | undefined {
  const numbers = content.flatMap(each => (each.type === 'text' ? each.text.split('\n').flatMap(numberOf) : []))
  const [first] = numbers
  const last = numbers.at(-1)
  if (first !== undefined && last !== undefined && last - first === numbers.length - 1) return [first, last]
  // Agents count from 0 or from 1: only for Claude's own tool it is certain which.
  const { offset = 1, limit } = args
  if (name !== 'Read' || args['file_path'] === undefined || !isCount(offset) || !isCount(limit)) return undefined
  return [offset, offset + limit - 1]
}

// "   12→text" is how Claude numbers lines, "00012| text" and "12: text" how opencode does.
function numberOf(line: string): number[] {
  const [, number] = /^\s*(\d{1,7})(?:→|\t|\| |: )/.exec(line) ?? []
  return number === undefined ? [] : [Number(number)]
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
