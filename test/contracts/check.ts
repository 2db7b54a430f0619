import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

type Message = [] | [string]
type WantedError = { name: string; quota?: string } | { message: string }

/** What the contracts need of a test: a test of tap has all of it, and `checkWith` makes one of a test of Node.js. */
export interface Check {
  /** Runs a part as a test of its own. Parts run one after another. */
  test(title: string, part: (t: Check) => unknown): unknown
  /** Called after the test, the last one first. */
  teardown(close: () => unknown): unknown
  ok(value: unknown, ...message: Message): unknown
  fail(...message: Message): unknown
  equal(found: unknown, wanted: unknown, ...message: Message): unknown
  not(found: unknown, unwanted: unknown, ...message: Message): unknown
  /** Equal in depth; prototypes do not count. */
  same(found: unknown, wanted: unknown, ...message: Message): unknown
  strictSame(found: unknown, wanted: unknown, ...message: Message): unknown
  /** Has everything of the pattern, in depth: values may be matched by a regular expression, or a type such as `String`. */
  match(found: unknown, pattern: unknown, ...message: Message): unknown
  rejects(promise: Promise<unknown>, ...error: [] | [WantedError, ...Message]): Promise<unknown>
  doesNotThrow(run: () => unknown, ...message: Message): unknown
}

type NodeTest = (title: string, part: (context: TestContext) => Promise<void>) => Promise<void>

/** Checks by `node:assert` in tests of `node:test`: `storeContract(checkWith(test), place)`. */
export function checkWith(test: NodeTest): Check {
  // Parts of one test run in order, as with tap, and it ends after the last of them.
  let parts: Promise<unknown> = Promise.resolve()
  const begin = (title: string, part: (t: Check) => unknown) => {
    parts = parts.then(() => test(title, context => runPart(context, part)))
    return parts
  }
  return { ...assertions, test: begin, teardown: noTest }
}

async function runPart(context: TestContext, part: (t: Check) => unknown): Promise<void> {
  const closers: (() => unknown)[] = []
  const inner: Promise<unknown>[] = []
  const own = checkWith((title, within) => context.test(title, within))
  const test: Check['test'] = (title, within) => {
    const begun = own.test(title, within)
    inner.push(Promise.resolve(begun))
    return begun
  }
  try {
    await part({ ...own, test, teardown: close => closers.push(close) })
    await Promise.all(inner)
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

function noTest(): never {
  throw new Error('Only a test has a teardown.')
}

const assertions = {
  ok: (value: unknown, message?: string) => assert.ok(value, message),
  fail: (message?: string) => assert.fail(message),
  equal: (found: unknown, wanted: unknown, message?: string) => assert.equal(found, wanted, message),
  not: (found: unknown, unwanted: unknown, message?: string) => assert.notEqual(found, unwanted, message),
  same: (found: unknown, wanted: unknown, message?: string) => assert.deepEqual(plain(found), plain(wanted), message),
  strictSame: (found: unknown, wanted: unknown, message?: string) => assert.deepEqual(found, wanted, message),
  match(found: unknown, pattern: unknown, message?: string) {
    if (!matches(found, pattern)) assert.deepEqual(found, pattern, message)
  },
  rejects: (promise: Promise<unknown>, error: object = {}, _message?: string) =>
    assert.rejects(promise, found => matches(found, error) || assert.deepEqual(found, error) === undefined),
  doesNotThrow: (run: () => unknown, message?: string) => assert.doesNotThrow(run, message)
}

function matches(found: unknown, pattern: unknown): boolean {
  if (pattern instanceof RegExp) return typeof found === 'string' && pattern.test(found)
  if (typeof pattern === 'function') return isOf(found, pattern)
  if (typeof pattern !== 'object' || pattern === null) return Object.is(found, pattern)
  if (typeof found !== 'object' || found === null) return false
  if (Array.isArray(pattern) && !(Array.isArray(found) && found.length === pattern.length)) return false
  return Object.entries(pattern).every(([key, part]) => matches((found as Record<string, unknown>)[key], part))
}

function isOf(found: unknown, type: object): boolean {
  if (type === String || type === Number || type === Boolean)
    return Object(found) instanceof (type as typeof Object) && typeof found !== 'object'
  return typeof type === 'function' && found instanceof type
}

/** Copies of objects without their prototypes, such as rows of a database. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Uint8Array ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Error
  )
    return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
}
