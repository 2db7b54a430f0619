import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { functionsOf } from './mutations.ts'
import { keyOf, Notes } from './notes.ts'
import { parse } from './syntax.ts'

const before = `
function one(isLoud) { if (isLoud) shout(1); two(1) }
const two = n => n > 1 ? n + 2 : three(n) || three(2)
function three(n) { return n > 1 && five(n) }
const shout = n => { throw n }
const five = n => n ?? 5
`
const source = parse(new Map([['page.ts', before]])).get('page.ts')
const changes = source ? functionsOf(source).flatMap(({ mutations }) => mutations) : []
const places = ['shout(1);', 'two(1)', '>', ' || three(2)', ' && five(n)', '5'].map(text => {
  const edit = changes.find(({ from, to }) => before.slice(from, to) === text)
  if (!edit) throw new Error(`no change of ${text}`)
  return { text, file: 'page.ts', edit, reaching: edit.reaching }
})

t.test('the places that are reached are noted, in a process and in a page', async t => {
  const folder = t.testdir({})
  const notes = new Notes(folder, [...places, ...places])
  const text = notes.textWith('page.ts', before)
  const noted = async () => {
    await setImmediate()
    return places.filter(place => notes.noted().has(keyOf(place))).map(({ text }) => text)
  }

  new Function(`${text}\none(false)`)()
  t.same(await noted(), ['two(1)', '>', ' || three(2)', ' && five(n)'])
  notes.forget()
  t.same(await noted(), [])

  delete Object.assign(globalThis)['afieldPlaces']
  t.throws(() => new Function(`${text}\none(true)`)())
  t.same(await noted(), ['shout(1);'], 'what follows an error is not reached')
  notes.forget()

  process.env['REACHED_FOLDER'] = folder
  await import(import.meta.resolve('./note-pages.mjs'))
  const browser = await openChromium(t)
  const page = await browser.newPage()
  const said = page.waitForEvent('console')
  await page.evaluate(`(() => { ${text}\ntwo(2) })()`)
  await said
  t.same(await noted(), ['>'])
})

t.test('a change has the notes around it, and not those of what it takes away', async t => {
  const notes = new Notes(t.testdir({}), places)
  const tried = (text: string) => {
    const change = places.find(place => place.text === text)
    return notes.textWith('page.ts', before, change).split('\n')
  }
  t.same(tried('shout(1);')[1], 'function one(isLoud) { if (isLoud) { afieldReached(0); ; } afieldReached(1); two(1) }')
  t.same(tried('>')[2], 'const two = n => (afieldReached(2), n >= 1 ? n + 2 : (afieldReached(3), three(n) || three(2)))')
  t.same(tried(' && five(n)')[3], 'function three(n) { afieldReached(4); return n > 1 }')
  t.same(notes.textWith('other.ts', 'const other = 1').split('\n')[0], 'const other = 1')
})
