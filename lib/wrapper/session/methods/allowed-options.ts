/** The options that a caller may pass to a program, by their long names. */
export interface AllowedOptions {
  readonly switches: ReadonlySet<string>
  /** Options with a value, and its format. */
  readonly values: Readonly<Record<string, RegExp>>
  /** The long names of the short ones. */
  readonly short: Readonly<Record<string, string>>
  /** Accepted because apps send them, but not passed on. */
  readonly ignored?: ReadonlySet<string>
}

/** The arguments for the program: each option in its long form as one word, so that it cannot be mistaken for anything else. */
export interface ReadOptions {
  readonly options: readonly string[]
  readonly words: readonly string[]
}

/** Throws, with a sentence, for an option that is not allowed. Short options must be separate: combined ones could hide others. */
export function readOptions(args: readonly string[], allowed: AllowedOptions): ReadOptions {
  const options: string[] = []
  const words: string[] = []
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') words.push(...rest.splice(0))
    else if (!arg.startsWith('-')) words.push(arg)
    else options.push(...readOption(arg, () => rest.shift(), allowed))
  }
  return { options, words }
}

function readOption(arg: string, next: () => string | undefined, { switches, values, short, ignored }: AllowedOptions): string[] {
  const [written = '', attached] = arg.startsWith('--') ? arg.split(/=(.*)/s, 2) : [arg]
  const name = written.startsWith('--') ? written : ownOf(short, written)
  if (name !== undefined && attached === undefined) {
    if (ignored?.has(name)) return []
    if (switches.has(name)) return [name]
  }
  const form = name === undefined ? undefined : ownOf(values, name)
  const value = form && (attached ?? next())
  if (form && value !== undefined && form.test(value)) return [`${name}=${value}`]
  throw new Error(`${arg.slice(0, 100)} is not available from a phone.`)
}

function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
