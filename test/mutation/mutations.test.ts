import t from 'tap'
import { apply, functionsOf } from './mutations.ts'
import { parse } from './syntax.ts'

/** Each kind of change, on one line of a function. */
const table: [kind: string, line: string, ...changed: string[]][] = [
  ['condition negated', 'if (isOpen) end()', 'if (!(isOpen)) end()'],
  ['condition negated', 'while (!isOpen) wait()', 'while (isOpen) wait()'],
  ['condition negated', "return kind === 'open'", "return kind !== 'open'"],
  ['statement removed', 'await store.add(row)', ';'],
  ['statement removed', 'if (isOpen) count += 1', 'if (isOpen) ;'],
  ['boundary moved', 'return count < most', 'return count <= most'],
  ['boundary moved', 'return list.slice(0, most)', 'return list.slice(1, most)'],
  ['boundary moved', 'return list[at + 1]', 'return list[at]'],
  ['arguments swapped', 'add(from, to, () => 1)', 'add(to, from, () => 1)'],
  ['await lost', 'await store.add(row)', 'store.add(row)'],
  ['catch emptied', 'try { read() } catch { reset() }', 'try { read() } catch {}'],
  ['error not caught', 'try { read() } catch { reset() }', 'try { read() } catch (uncaught) { throw uncaught }'],
  ['error not caught', 'await look().catch(() => {})', 'await look()'],
  ['and for or', 'return isOpen && isMine', 'return isOpen || isMine'],
  ['operand left out', 'return isOpen && isMine', 'return isOpen', 'return isMine'],
  ['property left out', 'return { ...all, id, name: 1 }', 'return { id, name: 1 }', 'return { ...all, name: 1 }', 'return { ...all, id }'],
  ['default left out', 'return most ?? 10', 'return most'],
  ['default left out', 'const { most = 10 } = limits', 'const { most } = limits'],
  ['cleanup removed', 'try { read() } finally { end() }', 'try { read() } finally {}'],
  ['cleanup removed', 'clearTimeout(timer)', ';'],
  ['cleanup removed', 'using file = open()', 'const file = open()'],
  ['cleanup removed', 'return () => stop()', 'return () => {}'],
  ['constant changed', 'wait(1_000)', 'wait(500)'],
  ['constant changed', 'isOpen = true', 'isOpen = false'],
  ['constant changed', "return kind === 'open'", "return kind === 'open!'"]
]

const nothing: [why: string, line: string, kind?: string][] = [
  ['a text of the log', "log.warn({ id, count: 1 }, 'slow')"],
  ['a text of an error', "throw new Error('a' + 1)"],
  ['a type', 'const value: { id: 1 } | undefined = given'],
  ['a property that is undefined', 'return { id: undefined }', 'property left out'],
  ['the constructor above', 'super(options)', 'statement removed']
]

const around = (line: string) => `function f() {\n  ${line}\n}\n`
const inside = (text: string) => text.slice(around('').indexOf('\n') + 3, -3)

// The compiler starts once for all of them.
const lines = [...new Set([...table, ...nothing].map(([, line]) => line))]
const texts = new Map(lines.map((line, at) => [`${at}.ts`, around(line)]))
const scopes = `
const outer = () => {
  log.info('begun')
  const inner = function (most = 5) { end() }
  first()
  list.map(each => { add(each) })
  last()
}
class Outbox { #send = () => this.post(); close() { this.end(); this.#link = undefined } }
`
const markup = 'export const Row = () => isOpen && <p title={text(1)}>open</p>'
const parsed = parse(new Map([...texts, ['scopes.ts', scopes], ['markup.tsx', markup]]))

function changesOf(line: string, kind?: string): string[] {
  const file = `${lines.indexOf(line)}.ts`
  const source = parsed.get(file)
  const found = source ? functionsOf(source).flatMap(({ mutations }) => mutations) : []
  return found.filter(mutation => kind === undefined || mutation.kind === kind).map(mutation => inside(apply(around(line), [mutation])))
}

t.test('each kind of change has the text that it says', async t => {
  for (const [kind, line, ...changed] of table) t.same(changesOf(line, kind), changed, `${kind}: ${line}`)
})

t.test('what no test should see is not changed', async t => {
  for (const [why, line, kind] of nothing) t.same(changesOf(line, kind), [], why)
})

t.test('a function that ends before its last statements does so before each that does something', async t => {
  const source = parsed.get('scopes.ts')
  const [outer] = source ? functionsOf(source).filter(({ name }) => name === 'outer') : []
  const early = outer?.mutations.filter(({ kind }) => kind === 'early return').map(mutation => apply(scopes, [mutation])) ?? []
  t.same(
    early.map(text => /return; .*/.exec(text)?.[0]),
    ['return; first()', 'return; list.map(each => { add(each) })']
  )
})

t.test('a function has its own statements and those of callbacks without a name', async t => {
  const source = parsed.get('scopes.ts')
  const sizes = source ? functionsOf(source).map(({ name, size }) => [name, size]) : []
  t.same(Object.fromEntries(sizes), { 'outer.inner': 1, outer: 6, 'Outbox.close': 2 })
})

t.test('the place of a change tells that it was reached', async t => {
  const told = (file: string, text: string, change: string) => {
    const source = parsed.get(file)
    const all = source ? functionsOf(source).flatMap(({ mutations }) => mutations) : []
    const found = all.find(({ from, to }) => text.slice(from, to) === change)
    return found && apply(text, found.reaching('here()'))
  }
  const line = (text: string, change: string) => inside(told(`${lines.indexOf(text)}.ts`, around(text), change) ?? '')
  t.equal(line('await store.add(row)', 'await store.add(row)'), 'here(); await store.add(row)')
  t.equal(line('if (isOpen) end()', 'isOpen'), 'here(); if (isOpen) end()')
  t.equal(line('if (isOpen) count += 1', 'count += 1'), 'if (isOpen) { here(); count += 1 }')
  t.equal(line('try { read() } catch { reset() }', 'reset()'), 'try { read() } catch { here(); reset() }')
  t.equal(line('return most ?? 10', '10'), 'return most ?? (here(), 10)')
  t.equal(line('const { most = 10 } = limits', '10'), 'here(); const { most = 10 } = limits')
  t.equal(told('markup.tsx', markup, '1'), 'export const Row = () => isOpen && (here(), <p title={text(1)}>open</p>)')
  t.match(told('scopes.ts', scopes, '5'), /most = 5\) { here\(\); end\(\) }/, 'a default value with the whole function')
})
