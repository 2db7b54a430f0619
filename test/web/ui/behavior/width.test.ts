import t from 'tap'
import { pageGlobals } from '../../kit/page-globals.ts'

/** A window of this size, in rem and px as the queries name them. */
const queries = new Map<string, EventTarget & { matches: boolean }>()
pageGlobals(t, {
  matchMedia(query: string) {
    const found = queries.get(query) ?? Object.assign(new EventTarget(), { matches: query.includes('60em') })
    queries.set(query, found)
    return found
  }
})
const { isSpacious, isWide } = await import('../../../../web/ui/behavior/width.ts')

t.test('the app has as many panes as there is room for, also once the window changes', async t => {
  t.same([isWide.value, isSpacious.value], [true, false])
  for (const [query, matches] of [
    ['(min-width: 1200px)', true],
    ['(min-width: 768px) and (min-height: 30em), (min-width: 60em)', false]
  ] as const) {
    const found = queries.get(query)
    if (!found) throw new Error(`${query} is not asked`)
    found.matches = matches
    found.dispatchEvent(new Event('change'))
  }
  t.same([isWide.value, isSpacious.value], [false, true])
  t.equal(queries.size, 2)
})
