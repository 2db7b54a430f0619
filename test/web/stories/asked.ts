/** For tests: what was asked for since the story began, of the server, of a machine, or of the session that it shows. */
export const asked: string[] = []
Object.assign(globalThis, { asked })

export function noteAsked(what: string, given?: unknown): void {
  const content: unknown = typeof given === 'string' && given.startsWith('{') ? JSON.parse(given) : given
  // What is encrypted or long is left out, the time, and what protects a call against being sent twice.
  const isLeftOut = (value: unknown) => (typeof value === 'string' ? value.length > 60 : typeof value === 'number' && value > 1e12)
  const said = JSON.stringify(content, (name, value) => (name === 'sealedFor' ? undefined : isLeftOut(value) ? '…' : value))
  asked.push(said === undefined ? what : `${what} ${said}`)
}

/** The same object, of which each call is noted, also those of the objects in it. What is only looked up is not. */
export function noting<Target extends object>(name: string, target: Target): Target {
  const made = new WeakMap<object, unknown>()
  const kept = (value: object, make: () => unknown) => {
    if (!made.has(value)) made.set(value, make())
    return made.get(value)
  }
  return new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key)
      const path = `${name}.${String(key)}`
      if (typeof value === 'function')
        return kept(
          value,
          () =>
            (...given: unknown[]) =>
              call(path, value.bind(target), given)
        )
      return isPlain(value) ? kept(value, () => noting(path, value)) : value
    }
  })
}

function call(path: string, perform: (...given: unknown[]) => unknown, given: readonly unknown[]): unknown {
  if (!/\.(?:stagesOf|show|of|keepDraft|onDraft|readDraft|takeLeaving)$/.test(path)) noteAsked(path, given)
  return perform(...given)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
