/**
 * What the bundle of the app has in place of zod: as much of it as the schemas of `lib/protocol` use, in a twentieth of the bytes. It takes and
 * refuses the same values, and reads the same out of them; a test compares the two over every schema. The types are zod's own.
 */
class Schema {
  /** What was meant, or a `Misfit`. */
  readonly read: (value: unknown) => unknown
  /** Whether an object may be without a key of it. */
  readonly mayBeAbsent: boolean

  constructor(read: Schema['read'], mayBeAbsent = false) {
    this.read = read
    this.mayBeAbsent = mayBeAbsent
  }

  safeParse(value: unknown) {
    const read = this.read(value)
    return read instanceof Misfit ? { success: false, error: new ZodError(read) } : { success: true, data: read }
  }
  parse(value: unknown): unknown {
    const { data, error } = this.safeParse(value)
    if (error) throw error
    return data
  }

  optional(): Schema {
    return new Schema(value => (value === undefined ? value : this.read(value)), true)
  }
  nullable(): Schema {
    return new Schema(value => (value === null ? value : this.read(value)), this.mayBeAbsent)
  }
  nullish(): Schema {
    return this.nullable().optional()
  }
  catch(instead: unknown): Schema {
    return new Schema(value => unlessMisfit(this.read(value), instead), true)
  }
  default(instead: unknown): Schema {
    return new Schema(value => (value === undefined ? instead : this.read(value)), true)
  }
  transform(change: (value: never) => unknown): Schema {
    return this.pipe(new Schema(value => change(value as never)))
  }
  pipe(next: Schema): Schema {
    const read = (value: unknown) => {
      const first = this.read(value)
      return first instanceof Misfit ? first : next.read(first)
    }
    return new Schema(read, this.mayBeAbsent)
  }

  refine(isSound: (value: never) => boolean, wish = 'otherwise'): this {
    const read = (value: unknown) => {
      const found = this.read(value)
      return found instanceof Misfit || isSound(found as never) ? found : new Misfit(wish)
    }
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { read })
  }
  min(least: number): this {
    return this.refine(value => sizeOf(value) >= least, `at least ${least}`)
  }
  max(most: number): this {
    return this.refine(value => sizeOf(value) <= most, `at most ${most}`)
  }
  length(exactly: number): this {
    return this.refine(value => sizeOf(value) === exactly, `exactly ${exactly}`)
  }
  positive(): this {
    return this.refine(value => value > 0, 'more than 0')
  }
  nonnegative(): this {
    return this.min(0)
  }
  int(): this {
    return this.refine(Number.isSafeInteger, 'a whole number')
  }
  regex(pattern: RegExp, wish = String(pattern)): this {
    return this.refine(value => pattern.test(value), wish)
  }
  brand(): this {
    return this
  }
}

type Shape = Record<string, Schema>

class ObjectSchema extends Schema {
  readonly given: Shape
  readonly isLoose: boolean
  known: Shape | undefined

  constructor(given: Shape, isLoose: boolean) {
    super(value => readObject(this.shape, isLoose, value))
    this.given = given
    this.isLoose = isLoose
  }

  /** Looked at late, as a schema may name itself behind a getter. */
  get shape(): Shape {
    this.known ??= { ...this.given }
    return this.known
  }
  extend(more: Shape): ObjectSchema {
    return new ObjectSchema({ ...this.shape, ...more }, this.isLoose)
  }
  pick(names: object): ObjectSchema {
    return this.#only(name => name in names)
  }
  omit(names: object): ObjectSchema {
    return this.#only(name => !(name in names))
  }
  required(): ObjectSchema {
    const isThere = (schema: Schema) => new Schema(schema.read).refine(value => value !== undefined, 'something')
    return new ObjectSchema(Object.fromEntries(Object.entries(this.shape).map(([name, schema]) => [name, isThere(schema)])), this.isLoose)
  }
  #only(isMeant: (name: string) => boolean): ObjectSchema {
    return new ObjectSchema(Object.fromEntries(Object.entries(this.shape).filter(([name]) => isMeant(name))), this.isLoose)
  }
}

function readObject(shape: Shape, isLoose: boolean, value: unknown): unknown {
  if (!isObject(value)) return new Misfit('an object')
  const found: Record<string, unknown> = {}
  for (const key in shape) {
    const schema = shape[key] as Schema
    const isThere = key in value
    if (!isThere && !schema.mayBeAbsent) return new Misfit('something', [key])
    const read = schema.read(value[key])
    if (read instanceof Misfit) return read.under(key)
    if (isThere || read !== undefined) found[key] = read
  }
  // An assigned `__proto__` would become what the object inherits from.
  if (isLoose) for (const key in value) if (!Object.hasOwn(shape, key) && key !== '__proto__') found[key] = value[key]
  return found
}

class Choice<Option> extends Schema {
  readonly options: readonly Option[]

  constructor(options: readonly Option[], read: Schema['read'], mayBeAbsent = false) {
    super(read, mayBeAbsent)
    this.options = options
  }
}

class Names extends Choice<string> {
  constructor(names: readonly string[]) {
    super(names, value => (names.includes(value as string) ? value : new Misfit(names.join(', '))))
  }

  exclude(names: readonly string[]): Names {
    return new Names(this.options.filter(name => !names.includes(name)))
  }
}

class Literal extends Schema {
  readonly value: unknown

  constructor(value: unknown) {
    super(found => (found === value ? found : new Misfit(String(value))))
    this.value = value
  }
}

export const string = () => ofType<string>('string')
export const boolean = () => ofType<boolean>('boolean')
export const number = () => ofType<number>('number').refine(Number.isFinite, 'a finite number')
export const int = () => number().int()
export const guid = () => string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
export const unknown = () => new Schema(value => value)
export const never = () => new Schema(() => new Misfit('nothing'))
export const literal = (value: unknown) => new Literal(value)
export const object = (shape: Shape) => new ObjectSchema(shape, false)
export const looseObject = (shape: Shape) => new ObjectSchema(shape, true)

const nothing = () => literal(undefined)
const nil = () => literal(null)
const oneOf = (names: readonly string[]) => new Names(names)

export { nil as null, nothing as undefined, oneOf as enum, unknown as custom }

export function array(element: Schema): Schema {
  return new Schema(value => {
    if (!Array.isArray(value)) return new Misfit('a list')
    const found: unknown[] = []
    for (let index = 0; index < value.length; index++) {
      const read = element.read(value[index])
      if (read instanceof Misfit) return read.under(index)
      found.push(read)
    }
    return found
  })
}

export function record(keys: Schema, values: Schema): Schema {
  return new Schema(value => {
    if (!isObject(value)) return new Misfit('an object')
    const found: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      if (key === '__proto__') continue
      const name = keys.read(key)
      if (name instanceof Misfit) return name.under(key)
      const read = values.read(value[key])
      if (read instanceof Misfit) return read.under(key)
      found[name as string] = read
    }
    return found
  })
}

export function union(options: readonly Schema[]): Schema {
  const read = (value: unknown) => {
    let last: unknown = new Misfit('nothing')
    for (const option of options) {
      last = option.read(value)
      if (!(last instanceof Misfit)) break
    }
    return last
  }
  return new Choice(
    options,
    read,
    options.some(({ mayBeAbsent }) => mayBeAbsent)
  )
}

export function discriminatedUnion(name: string, options: readonly ObjectSchema[]): Schema {
  const byValue = new Map(options.flatMap(option => valuesOf(option.shape[name]).map(value => [value, option])))
  return new Choice(options, value => {
    if (!isObject(value)) return new Misfit('an object')
    return byValue.get(value[name])?.read(value) ?? new Misfit('a known kind', [name])
  })
}

function valuesOf(schema: Schema | undefined): readonly unknown[] {
  if (schema instanceof Names) return schema.options
  return schema instanceof Literal ? [schema.value] : []
}

/** Where a value is not what was meant. */
class Misfit {
  readonly wish: string
  readonly path: readonly (string | number)[]

  constructor(wish: string, path: Misfit['path'] = []) {
    this.wish = wish
    this.path = path
  }
  under(key: string | number): Misfit {
    return new Misfit(this.wish, [key, ...this.path])
  }
}

/** Tells where and what was wished for, never what was there. */
export class ZodError extends Error {
  override name = 'ZodError'

  constructor({ wish, path }: Misfit) {
    super(`Expected ${wish} at ${['value', ...path].join('.')}.`)
  }
}

function ofType<Type>(type: string): Schema & { readonly _is?: Type } {
  return new Schema(value => (typeof value === type ? value : new Misfit(`a ${type}`)))
}

function unlessMisfit(read: unknown, instead: unknown): unknown {
  if (!(read instanceof Misfit)) return read
  return typeof instead === 'function' ? instead() : instead
}

function sizeOf(value: number | { length: number }): number {
  return typeof value === 'number' ? value : value.length
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
