import t from 'tap'
import type { Answered } from '../../../../web/model/decisions/decisions.ts'
import { type Block, blocksOf, sameBlock } from '../../../../web/model/transcript/blocks.ts'
import type { Item, Step } from '../../../../web/model/transcript/items.ts'

const noon = new Date(2026, 4, 14, 12).getTime()
const at = (type: Item['type'], seq: number, more: object = {}) => ({ type, key: `k${seq}`, seq, at: noon + seq * 1000, ...more }) as Item
const prose = (seq: number, more: object = {}) => at('prose', seq, { text: 'x', ...more })
const thought = (seq: number) => at('thinking', seq)
const read = (seq: number, more: Partial<Step> = {}) =>
  at('step', seq, { call: `c${seq}`, kind: 'read', state: 'ok', endedAt: noon + seq * 1000 + 500, ...more }) as Step
const decision = (id: string, ms: number) => ({ id, at: noon + ms }) as Answered

/** The blocks in short: rows of a trail in brackets. */
function shapes(blocks: readonly Block[]): string {
  const of = (block: Block) => (block.type === 'trail' ? `[${block.rows.map(row => row.key).join(' ')}]` : block.key)
  return blocks
    .filter(({ type }) => type !== 'day')
    .map(of)
    .join(' ')
}

t.test('steps, plans and thoughts in a row are one trail, and all else stands alone', async t => {
  const others = (['mine', 'prose', 'file', 'turn-ended', 'note', 'fault', 'limit', 'control', 'skipped'] as const).map((type, index) =>
    at(type, 10 + index)
  )
  const items = [read(1), at('plan', 2), thought(3), ...others, read(20), read(21, { kind: 'edit' })]
  const blocks = blocksOf(items)
  t.equal(shapes(blocks), '[k1 k2 k3] k10 k11 k12 k13 k14 k15 k16 k17 k18 [k20 k21]')
  const [day, trail, first] = blocks
  t.strictSame(day, { type: 'day', key: `day.${new Date(noon).toDateString()}`, at: noon + 1000 })
  t.strictSame(trail, { type: 'trail', key: 'trail.k1', rows: items.slice(0, 3) })
  t.strictSame(first, { type: 'item', key: 'k10', item: others[0] })
  t.same(blocksOf([]), [])
})

t.test('each local day has a heading, from midnight to midnight, also when the clock went back', async t => {
  const midnight = new Date(2026, 4, 15).getTime()
  const headings = (...times: number[]) =>
    blocksOf(times.map((time, index) => read(index, { at: time }))).map(block => (block.type === 'day' ? block.at : block.type))
  t.same(headings(midnight - 1, midnight), [midnight - 1, 'trail', midnight, 'trail'])
  t.same(headings(midnight, midnight + 24 * 3600_000 - 1), [midnight, 'trail'])
  t.same(headings(midnight, midnight - 1, midnight), [midnight, 'trail', midnight - 1, 'trail', midnight, 'trail'])
})

t.test('three steps that only looked fold, with their thoughts but the last, and with how long they took', async t => {
  const rows = (...items: Item[]) => {
    const [, trail] = blocksOf(items)
    return trail?.type === 'trail' ? trail.rows : []
  }
  const looks = [read(1), thought(2), read(3, { kind: 'search' }), read(5, { kind: 'think', state: 'done' })]
  t.strictSame(rows(...looks, thought(6)), [{ type: 'looked', key: 'looked.k1', rows: looks, steps: 3, tookMs: 4500 }, thought(6)])
  t.match(rows(thought(0), ...looks), [{ key: 'looked.k0', steps: 3, tookMs: 5500 }])
  t.match(rows(...looks.slice(0, 3), read(5, { endedAt: undefined })), [{ tookMs: 4000 }], 'from its beginning if its end is unknown')
  t.match(rows(read(1, { at: noon + 9000 }), read(2), read(3)), [{ tookMs: 0 }], 'with clocks that differ')
  const keys = (...items: Item[]) =>
    rows(...items)
      .map(({ key }) => key)
      .join(' ')
  t.equal(keys(read(1), read(2)), 'k1 k2')
  t.equal(keys(thought(1), thought(2), thought(3)), 'k1 k2 k3')
  for (const more of [{ kind: 'execute' }, { kind: 'fetch' }, { state: 'failed' }, { state: 'running' }, { state: 'denied' }] as const)
    t.equal(keys(read(1), read(2), read(3, more), read(4)), 'k1 k2 k3 k4', JSON.stringify(more))
  t.equal(keys(read(1), read(2), read(3), read(4, { kind: 'edit' }), read(5)), 'looked.k1 k4 k5')
  t.equal(keys(read(1), read(2), read(3), at('plan', 4)), 'looked.k1 k4')
})

t.test('answered permissions without a step are rows at their time, and those before the first item are left out', async t => {
  const items = [prose(1), prose(2), read(3)]
  const shown = (...decisions: Answered[]) => shapes(blocksOf(items, decisions))
  t.equal(shown(decision('b', 3500), decision('a', 1500)), 'k1 [decision.a] k2 [k3 decision.b]')
  t.equal(shown(decision('a', 1000)), '[decision.a] k1 k2 [k3]')
  t.equal(shown(decision('a', 999)), 'k1 k2 [k3]')
  t.equal(shown(decision('a', 2000), decision('b', 2000)), 'k1 [decision.a decision.b] k2 [k3]')
  t.same(blocksOf([], [decision('a', 1)]), [])
  const [, , trail] = blocksOf(items, [decision('a', 1500)])
  t.strictSame(trail?.type === 'trail' && trail.rows, [
    { type: 'decision', key: 'decision.a', at: noon + 1500, answered: decision('a', 1500) }
  ])
})

t.test('a block that looks the same stays on screen, one with any other row does not', async t => {
  const items = [prose(0), read(1), read(2), read(3), prose(4), read(5), prose(6), prose(7, { at: noon + 24 * 3600_000 })]
  const answered = [decision('a', 5500)]
  const before = blocksOf(items, answered)
  const again = blocksOf(items, answered)
  t.ok(before.every((block, index) => again[index] && sameBlock(block, again[index])))
  t.ok(before.every(block => sameBlock(block, block)))
  for (const [index, block] of before.entries())
    for (const [other, one] of again.entries()) if (index !== other) t.notOk(sameBlock(block, one), `${block.key} and ${one.key}`)

  const changed = (next: Item[], nextAnswered = answered) =>
    blocksOf(next, nextAnswered).flatMap((block, index) => {
      const old = before[index]
      return old && sameBlock(old, block) ? [] : [block.key]
    })
  const replaced = (index: number, item: Item) => items.map((each, which) => (which === index ? item : each))
  t.same(changed(replaced(0, prose(0, { text: 'y' }))), ['k0'])
  t.same(changed(replaced(2, read(2))), ['trail.k1'], 'another version of a folded step')
  t.same(changed(replaced(5, read(5))), ['trail.k5'])
  t.same(changed([...items.slice(0, 3), ...items.slice(3, 4), read(3.5), ...items.slice(4)]), ['trail.k1'], 'one step more')
  t.same(changed(items, [decision('a', 5500)]), ['trail.k5'], 'another answer')
})
