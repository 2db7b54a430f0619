import * as valibot from 'valibot'

/**
 * Reads everything that comes from outside. It is valibot with these differences, which is why no other source imports valibot itself:
 *
 * - A list is no object.
 * - Numbers are finite. JSON can write others, as `1e999`.
 * - Loose objects and records keep the keys `constructor` and `prototype`. An assigned `__proto__` would become what the object inherits from.
 * - A problem names the place and what was expected, never the value, which may be secret.
 */
export * from 'valibot'

type Schema = valibot.GenericSchema
type Run = Schema['~run']
type Issues = [valibot.BaseIssue<unknown>, ...valibot.BaseIssue<unknown>[]]

/** What is wrong with a value. `type` is that of the schema or check that rejected it. `message` follows the path, as in `name is missing`. */
export interface Problem {
  path: readonly PropertyKey[]
  message: string
  type: string
}

export type Reading<Output> = { success: true; data: Output; problem?: undefined } | { success: false; data?: undefined; problem: Problem }

export function safeParse<S extends Schema>(schema: S, value: unknown): Reading<valibot.InferOutput<S>> {
  const { value: data, issues } = schema['~run']({ value }, config)
  if (!issues) return { success: true, data: data as valibot.InferOutput<S> }
  const [{ path = [], message, type }] = issues
  return { success: false, problem: { path: path.map(({ key }) => key as PropertyKey), message, type } }
}

/** Throws a `Misfit`. */
export function parse<S extends Schema>(schema: S, value: unknown): valibot.InferOutput<S> {
  const { data, problem } = safeParse(schema, value)
  if (problem) throw new Misfit(problem)
  return data as valibot.InferOutput<S>
}

/** The value of a JSON text; undefined without one, and for any other text, such as what a crash cut off. */
export function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

export class Misfit extends Error {
  override name = 'Misfit'

  constructor({ path, message }: Problem) {
    super(`${['value', ...path].join('.')} ${message}`)
  }
}

const config = { abortEarly: true, message: expectation }

/** The message of a schema or check that has none of its own. */
function expectation({ type, expected, path }: valibot.BaseIssue<unknown>): string {
  if (path && type !== 'variant') return expected === 'never' ? 'is unknown' : 'is missing'
  return expected ? `must ${type.endsWith('length') ? 'have length' : 'be'} ${expected}` : 'is not valid'
}

export const number = () => valibot.pipe(valibot.number(), valibot.finite())
export const int = () => valibot.pipe(valibot.number(), valibot.safeInteger())
/** Text of at most so many UTF-16 units. */
export const text = (most: number) => valibot.pipe(valibot.string(), valibot.maxLength(most))

export function object<const Entries extends valibot.ObjectEntries>(entries: Entries) {
  return asGiven(unlessList(valibot.object(entries)))
}

export function strictObject<const Entries extends valibot.ObjectEntries>(entries: Entries) {
  return unlessList(valibot.strictObject(entries))
}

/** What has no entry is taken over as it is. */
export function looseObject<const Entries extends valibot.ObjectEntries>(entries: Entries) {
  const schema: Schema = valibot.object(entries)
  const run: Run = function (this: { entries: Entries }, dataset, config) {
    const given = dataset.value as Record<string, unknown>
    const read = schema['~run'].call(this, dataset, config)
    if (read.issues) return read
    const found = read.value as Record<string, unknown>
    for (const key of keysOf(given)) if (!Object.hasOwn(this.entries, key)) found[key] = given[key]
    return read
  }
  return unlessList({ ...schema, type: 'loose_object', '~run': run } as valibot.LooseObjectSchema<Entries, undefined>)
}

/** An object with an entry for each key that is there. */
export function record<Key extends valibot.GenericSchema<string, string>, Value extends Schema>(key: Key, value: Value) {
  return unlessList({
    ...valibot.object({}),
    type: 'record',
    key,
    value,
    '~run'(dataset, config) {
      const names = keysOf(dataset.value)
      for (const name of names) {
        const { issues } = key['~run']({ value: name }, config)
        if (issues) return { typed: false, value: name, issues }
      }
      return valibot.object(Object.fromEntries(names.map(name => [name, value])))['~run'](dataset, config)
    }
  } as valibot.GenericSchema as valibot.RecordSchema<Key, Value, undefined>)
}

/**
 * The same schema, which takes over an object with all of its entries and nothing else as it is, if reading changed none of them.
 * A copy made key by key costs more than all else about reading a message: `bench append`. No entry is read twice.
 */
function asGiven<S extends Schema & { entries: valibot.ObjectEntries }>(schema: S): S {
  const run: Run = schema['~run']
  return Object.assign(schema, {
    '~run'(this: S, ...[dataset, config]: Parameters<Run>): ReturnType<Run> {
      const given = dataset.value
      // Not those of `schema`: `omit` and its like make another one that runs this.
      const names = Object.keys(this.entries)
      if (!hasAll(given, names)) return run.call(this, dataset, config)
      let copy: Record<string, unknown> | undefined = Object.keys(given).length === names.length ? undefined : {}
      for (const name of names) {
        const entry = this.entries[name] as Schema
        const read = entry['~run']({ value: given[name] }, config)
        if (read.issues) return misfitAt(name, given, read.issues)
        if (copy === undefined && read.value !== given[name]) copy = { ...given }
        if (copy !== undefined) copy[name] = read.value
      }
      return { typed: true, value: copy ?? given }
    }
  })
}

function hasAll(given: unknown, names: readonly string[]): given is Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return names.every(name => Object.hasOwn(given, name) && (given as Record<string, unknown>)[name] !== undefined)
}

/** The issues of an entry, from the place of the object on. */
function misfitAt(key: string, input: Record<string, unknown>, issues: Issues): ReturnType<Run> {
  const place = { type: 'object', origin: 'value', input, key, value: input[key] } as const
  const [first, ...others] = issues.map(issue => ({ ...issue, path: [place, ...(issue.path ?? [])] as valibot.BaseIssue<unknown>['path'] }))
  return { typed: false, value: input, issues: first ? [first, ...others] : issues }
}

function unlessList<S extends Schema>(schema: S): S {
  const run: Run = schema['~run']
  return Object.assign(schema, {
    '~run'(this: S, ...[dataset, config]: Parameters<Run>) {
      return run.call(this, Array.isArray(dataset.value) ? { value: undefined } : dataset, config)
    }
  })
}

function keysOf(given: unknown): string[] {
  return typeof given === 'object' && given !== null ? Object.keys(given).filter(key => key !== '__proto__') : []
}
