import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { Calls } from './calls.ts'
import { apply, functionsOf } from './mutations.ts'
import { parse } from './syntax.ts'

const before = 'function one() { two(1) }\nconst two = n => n + 2\nfunction three() { one() }'
const source = parse(new Map([['page.ts', before]])).get('page.ts')
const [one, two, three] = source ? functionsOf(source).map(({ calling }) => ({ file: 'page.ts', calling })) : []
if (!one || !two || !three) throw new Error('no functions')

t.test('the functions that were called are noted, in a process and in a page', async t => {
  const folder = t.testdir({})
  const calls = new Calls(folder, [one, two, three, two])
  const text = apply(before, calls.notesIn('page.ts').flat())
  const noted = () => [one, two, three].map(each => calls.noted().has(calls.numberOf(each)))
  t.same(calls.notesIn('other.ts'), [])

  new Function(`${text}\none()`)()
  t.same(noted(), [true, true, false])
  calls.forget()
  t.same(noted(), [false, false, false])

  process.env['AFIELD_CALLS'] = folder
  await import(import.meta.resolve('./note-calls.mjs'))
  const browser = await openChromium(t)
  const page = await browser.newPage()
  const said = page.waitForEvent('console')
  await page.evaluate(`(() => { ${text}\ntwo(1) })()`)
  await said
  t.same(noted(), [false, true, false])
})
