import { deepStrictEqual } from 'node:assert'
import { readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import * as z from 'zod'
import { seededRandom } from '../../crash/random.ts'
import { fuzzedValue, jsonOf } from '../../fuzz/values.ts'
import { sampleSeed } from '../../kit/seed.ts'

/** The part of a schema that both validators have. */
interface Checker {
  safeParse(value: unknown): { success: boolean; data?: unknown }
}

const random = seededRandom(sampleSeed.number)
const asApp = '?in-the-app'

/** What luck does not find, or JSON cannot say. */
const seldom = [
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  'named',
  'ABCDEF01-2345-6789-ABCD-EF0123456789',
  { ['x'.repeat(101)]: 1 },
  { deliveredSeq: undefined, readSeq: undefined }
]

// Sources asked for as the app has them import each other so too, and the app's own validator.
registerHooks({
  resolve(specifier, context, next) {
    if (!context.parentURL?.endsWith(asApp)) return next(specifier, context)
    if (specifier === 'zod') return next(pathToFileURL('web/core/validator.ts').href, context)
    const found = next(specifier, context)
    return { ...found, url: found.url + asApp }
  }
})

t.test("the app's validator accepts, rejects and returns the same as the standard one", async t => {
  let compared = 0
  let taken = 0
  for (const { name, schema, inApp } of await everySchema()) {
    const json = jsonOf(schema)
    for (const value of [...seldom, ...Array.from({ length: 60 }, () => fuzzedValue(json, random, () => []))]) {
      const expected = outcome(schema, value)
      compared++
      if (expected.success) taken++
      const found = outcome(inApp, value)
      if (!isSame(found, expected)) t.fail(`${name} reads this in another way`, { value, expected, found })
    }
  }
  t.ok(compared > 50_000 && taken > compared / 4, `${taken} of ${compared} values were taken`)
})

t.test('a rejection names the place, and never the value', async t => {
  const { sessionRecord } = (await import(pathToFileURL('lib/protocol/wire/records.ts').href + asApp)) as Record<string, z.ZodType>
  t.throws(() => sessionRecord?.parse({ id: 'a', seq: 'a-secret' }), { name: 'ZodError', message: 'Expected a number at value.seq.' })
})

async function everySchema(): Promise<{ name: string; schema: z.ZodType; inApp: Checker }[]> {
  const found: { name: string; schema: z.ZodType; inApp: Checker }[] = []
  const look = (name: string, ours: unknown, theirs: unknown): void => {
    if (ours instanceof z.ZodObject) look(`${name}.`, ours.shape, Reflect.get(theirs as object, 'shape'))
    if (ours instanceof z.ZodType) found.push({ name, schema: ours, inApp: theirs as Checker })
    else if (typeof ours === 'object' && ours !== null && !Array.isArray(ours))
      for (const [key, value] of Object.entries(ours)) look(`${name} ${key}`, value, Reflect.get(theirs as object, key))
  }
  const files = readdirSync('lib/protocol', { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  for (const file of files) {
    const url = pathToFileURL(join('lib/protocol', file)).href
    look(file, { ...(await import(url)) }, await import(url + asApp))
  }
  return found
}

function outcome(schema: Checker, value: unknown): { success: boolean; data?: unknown } {
  const { success, data } = schema.safeParse(value)
  return { success, data }
}

function isSame(one: unknown, other: unknown): boolean {
  try {
    deepStrictEqual(one, other)
    return true
  } catch {
    return false
  }
}
