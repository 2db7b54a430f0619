import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import type * as v from '../../lib/schema.ts'
import type { Random } from '../crash/random.ts'

export type Json = JsonSchema

/** Texts that a field of this name may well hold, such as ids of rows that are there. */
export type Known = (field: string) => readonly string[]

/** What a schema takes, as a JSON Schema; undefined for a schema that takes nothing. */
export function jsonOf(schema: v.GenericSchema): Json | undefined {
  return schema.type === 'undefined' ? undefined : toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' })
}

/** A value that the schema takes, most of the time. */
export function validValue(schema: Json | boolean | undefined, random: Random, known: Known, field = ''): unknown {
  if (schema === undefined || typeof schema === 'boolean') return anyValue(random)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return validValue(random.pick(choices), random, known, field)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(part => validValue(part, random, known, field)))
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  switch (schema.type) {
    case 'object':
      return validObject(schema, random, known)
    case 'array': {
      const least = schema.minItems ?? 0
      const items = schema.items
      const item = Array.isArray(items) ? items[0] : items
      return Array.from({ length: random.between(least, least + 3) }, () => validValue(item, random, known, field))
    }
    case 'string':
      return validText(schema, random, known, field)
    case 'integer':
    case 'number':
      return validNumber(schema, random)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      return anyValue(random)
  }
}

function validObject({ properties = {}, required = [], additionalProperties }: Json, random: Random, known: Known): unknown {
  const fields = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.5))
  const value = Object.fromEntries(fields.map(([name, field]) => [name, validValue(field, random, known, name)]))
  if (typeof additionalProperties !== 'object') return value
  for (const name of ['total', 'input', 'output'])
    if (random.chance(0.8)) value[name] = validValue(additionalProperties, random, known, name)
  return value
}

function validText({ pattern, minLength = 0, maxLength = 40, format }: Json, random: Random, known: Known, field: string): string {
  if (format === 'uuid')
    return `${digits(random, 8)}-${digits(random, 4)}-4${digits(random, 3)}-8${digits(random, 3)}-${digits(random, 12)}`
  if (pattern?.includes('\\d')) return String(random.between(0, 1000))
  const there = known(field)
  if (there.length > 0 && random.chance(0.8)) return random.pick(there)
  return text(random, random.between(minLength, Math.min(maxLength, minLength + 40)))
}

function validNumber({ minimum, maximum }: Json, random: Random): number {
  const least = typeof minimum === 'number' ? Math.max(minimum, 0) : 0
  return random.chance(0.8) ? least + random.between(0, 3) : typeof maximum === 'number' ? Math.min(maximum, 2 ** 31) : Date.now()
}

const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789+/=']
function text(random: Random, length: number): string {
  let text = ''
  while (text.length < length) text += random.pick(letters)
  return text
}
function digits(random: Random, length: number): string {
  let digits = ''
  while (digits.length < length) digits += random.between(0, 9)
  return digits
}

const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\ud800',
  '\u202e',
  '𝒳',
  '../../etc/passwd',
  '%00',
  ':',
  'null',
  '-1',
  'x'.repeat(5_000),
  [],
  {},
  [[]],
  [null],
  { length: -1 },
  JSON.parse('{"then":"x"}'),
  { toString: 1 },
  { _placeholder: true, num: 0 },
  { _placeholder: true, num: 2 ** 40 },
  { _placeholder: true, num: 'splice' },
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
  JSON.parse('{"constructor":{"prototype":{"x":1}}}'),
  deep(40)
]

/** Any value where only a text can stand. */
export function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Anything that JSON can say. */
export function anyValue(random: Random): unknown {
  return random.pick(odd)
}

/** The same value with one thing in it wrong. */
export function nearValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.1)) return anyValue(random)
  const names = Object.keys(value)
  if (names.length === 0) return { [asText(anyValue(random))]: anyValue(random) }
  const name = random.pick(names)
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === name ? nearValue(item, random) : item))
  const { [name]: field, ...others } = value as Record<string, unknown>
  switch (random.between(0, 3)) {
    case 0:
      return others
    case 1:
      return { ...others, [name]: anyValue(random) }
    case 2:
      return { ...others, [name]: nearValue(field, random), [random.pick(['__proto__', 'extra', 'constructor'])]: anyValue(random) }
    default:
      return { ...others, [name]: nearValue(field, random) }
  }
}

/** A value that is wrong in one place, or altogether. */
export function spoiledValue(schema: Json | undefined, random: Random, known: Known): unknown {
  return random.chance(0.1) ? anyValue(random) : nearValue(validValue(schema, random, known), random)
}

/** Bytes with some of them changed, cut, doubled or swapped. */
export function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  let mutated = Buffer.from(bytes)
  for (let change = random.between(1, 4); change > 0 && mutated.length > 0; change -= 1) {
    const at = random.between(0, mutated.length - 1)
    const upTo = random.between(at + 1, Math.min(mutated.length, at + 8))
    const part = mutated.subarray(at, upTo)
    const kind = random.between(0, 3)
    if (kind === 0) mutated.writeUInt8((mutated.readUInt8(at) + random.between(1, 255)) % 256, at)
    else if (kind === 1) mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(upTo)])
    else if (kind === 2) mutated = Buffer.concat([mutated.subarray(0, upTo), part, mutated.subarray(upTo)])
    else mutated = mutated.subarray(0, at)
  }
  return mutated
}
