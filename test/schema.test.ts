import fc from 'fast-check'
import t from 'tap'
// biome-ignore lint/style/noRestrictedImports: ours is compared with it
import * as valibot from 'valibot'
import * as v from '../lib/schema.ts'

type Twins = readonly [ours: v.GenericSchema, theirs: v.GenericSchema]

const json = (text: string): unknown => JSON.parse(text)

t.test('a list is no object', async t => {
  const schemas = [v.object({}), v.object({ length: v.number() }), v.looseObject({}), v.strictObject({}), v.record(v.string(), v.unknown())]
  for (const schema of schemas) {
    t.equal(v.safeParse(schema, []).success, false, schema.type)
    t.equal(v.safeParse(v.optional(schema), undefined).success, true, schema.type)
  }
})

t.test('a number is finite', async t => {
  for (const schema of [v.number(), v.int(), v.pipe(v.number(), v.minValue(0))])
    for (const text of ['1e999', '-1e999', '"1"']) t.equal(v.safeParse(schema, json(text)).success, false, text)
  t.equal(v.parse(v.number(), json('1e300')), 1e300)
  t.equal(v.safeParse(v.int(), 2 ** 53).success, false)
})

t.test('content keeps every key, and none of them becomes what it inherits from', async t => {
  const given = json('{"type":"x","constructor":{"a":1},"prototype":2,"hasOwnProperty":3,"__proto__":{"isAdmin":true}}')
  const kept = { type: 'x', constructor: { a: 1 }, prototype: 2, hasOwnProperty: 3 }
  for (const schema of [v.looseObject({ type: v.string() }), v.record(v.string(), v.unknown())]) {
    const read = v.parse(schema, given)
    t.strictSame(Object.entries(read), Object.entries(kept), schema.type)
    t.equal(Object.getPrototypeOf(read), Object.prototype)
  }
  t.strictSame(v.parse(v.unknown(), given), given)
  t.strictSame(Object.keys(v.parse(v.omit(v.looseObject({ a: v.string(), b: v.string() }), ['b']), { a: '1', b: 2, c: 3 })), [
    'a',
    'b',
    'c'
  ])
})

t.test('each key and value of a record is read', async t => {
  const counts = v.record(v.pipe(v.string(), v.maxLength(11)), v.number())
  t.strictSame(v.parse(counts, { constructor: 1, a: 2 }), { constructor: 1, a: 2 })
  t.equal(v.safeParse(counts, { constructor: 'x' }).success, false)
  t.equal(v.safeParse(counts, { 'twelve long.': 1 }).success, false)
  t.equal(v.safeParse(counts, null).success, false)
  t.equal(v.safeParse(counts, 'text').success, false)
})

t.test('a problem names the place and what was expected, never what came', async t => {
  const schema = v.strictObject({
    list: v.optional(v.array(v.object({ at: v.number() }))),
    text: v.optional(v.text(3)),
    count: v.optional(v.pipe(v.number(), v.minValue(1))),
    kind: v.optional(v.picklist(['a', 'b'])),
    name: v.optional(v.pipe(v.string(), v.regex(/^x/, 'is not a name'))),
    of: v.optional(v.variant('type', [v.object({ type: v.literal('one') }), v.object({ type: v.literal('two') })])),
    check: v.optional(
      v.pipe(
        v.string(),
        v.check(() => false)
      )
    )
  })
  const cases: [unknown, string][] = [
    ['secret', 'value must be Object'],
    [{ list: [{ at: 1 }, { at: 'secret' }] }, 'value.list.1.at must be number'],
    [{ list: [{}] }, 'value.list.0.at is missing'],
    [{ text: 'secret' }, 'value.text must have length <=3'],
    [{ count: 0 }, 'value.count must be >=1'],
    [{ kind: 'secret' }, 'value.kind must be ("a" | "b")'],
    [{ name: 'secret' }, 'value.name is not a name'],
    [{ of: { type: 'secret' } }, 'value.of.type must be ("one" | "two")'],
    [{ check: 'secret' }, 'value.check is not valid'],
    [{ other: 'secret' }, 'value.other is unknown']
  ]
  for (const [value, message] of cases) t.throws(() => v.parse(schema, value), { name: 'Misfit', message })
  const thrown = v.safeParse(schema, { text: 'secret' })
  t.notMatch(JSON.stringify(thrown), 'secret')
})

t.test('an object is read as valibot reads it, and one that need not change is not copied', async t => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const value: fc.Arbitrary<unknown> = fc.letrec(tie => ({
    value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.integer(), fc.constant(undefined), fc.constant(null), tie('object')),
    object: fc.dictionary(name, tie('value'), { noNullPrototype: true })
  })).object
  const twins = fc.letrec<{ schema: Twins }>(tie => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constant<Twins>([v.string(), v.string()]),
      fc.constant<Twins>([v.pipe(v.string(), v.toUpperCase()), v.pipe(v.string(), v.toUpperCase())]),
      fc.constant<Twins>([v.unknown(), v.unknown()]),
      tie('schema').map(([one, other]): Twins => [v.optional(one), v.optional(other)]),
      fc
        .dictionary(name, tie('schema'))
        .map(
          (entries): Twins => [
            v.object(Object.fromEntries(Object.entries(entries).map(([key, [one]]) => [key, one]))),
            valibot.object(Object.fromEntries(Object.entries(entries).map(([key, [, other]]) => [key, other])))
          ]
        )
    )
  })).schema
  fc.assert(
    fc.property(twins, value, ([ours, theirs], given) => {
      const before = structuredClone(given)
      t.strictSame(v.safeParse(ours, given), v.safeParse(theirs, given))
      t.strictSame(given, before)
    }),
    { numRuns: 2000 }
  )
  const given = { a: 'x', b: { a: 'y' } }
  t.equal(v.parse(v.object({ a: v.string(), b: v.object({ a: v.string() }) }), given), given)
  t.strictSame(v.parse(v.omit(v.object({ a: v.string(), b: v.unknown() }), ['b']), given), { a: 'x' })
})

t.test('each part of a value is read once, however deep, and a problem names its whole place', async t => {
  let reads = 0
  const depth = 24
  let schema: v.GenericSchema = v.pipe(
    v.string(),
    v.check(() => {
      reads += 1
      return false
    }, 'is wrong')
  )
  let given: unknown = 'x'
  for (let level = 0; level < depth; level += 1) {
    schema = v.object({ in: schema })
    given = { in: given, more: 1 }
  }
  t.same(v.safeParse(schema, given).problem, { path: Array(depth).fill('in'), message: 'is wrong', type: 'check' })
  t.equal(reads, 1)
})

t.test('what is no JSON text has no value', async t => {
  t.same(v.jsonOf('{"a":[1,null]}'), { a: [1, null] })
  t.equal(v.jsonOf('null'), null)
  for (const text of ['', '{"a":', 'undefined', undefined]) t.equal(v.jsonOf(text), undefined, String(text))
})
