import t from 'tap'
import type { Block } from '../../../../web/model/transcript/blocks.ts'
import { endIndex, firstIndex, firstKnown, lastSeqOf, seqFrom } from '../../../../web/session/log/block-numbers.ts'

// Only the numbers matter here.
const item = (seq: number) => ({ type: 'item', key: `i${seq}`, item: { seq } }) as unknown as Block
const day = { type: 'day', key: 'day', at: 1 } as const
const step = (seq: number) => ({ type: 'step', seq })
const loose = { type: 'decision', answered: {} }
const looked = (...seqs: number[]) => ({ type: 'looked', rows: seqs.map(step) })
const trail = (...rows: unknown[]) => ({ type: 'trail', key: 'trail', rows }) as unknown as Block
const pages = (count: number) => Array.from({ length: count }, (_, at) => item(at + 1))

t.test('a block ends with the number of its last message; days and loose answers have none', t => {
  t.equal(lastSeqOf(item(7)), 7)
  t.equal(lastSeqOf(day), 0)
  t.equal(lastSeqOf(trail(step(3), step(5), loose)), 5)
  t.equal(lastSeqOf(trail(step(3), looked(4, 5, 6))), 6)
  t.equal(lastSeqOf(trail(loose)), 0)
  t.end()
})

t.test('the first known message is that of the first block that has one', t => {
  t.equal(firstKnown([day, trail(loose), trail(loose, step(4), step(5)), item(6)]), 4)
  t.equal(firstKnown([day, trail(loose)]), 0)
  t.equal(seqFrom([item(1), day, item(3)], 1), 3)
  t.equal(seqFrom([item(1), day, item(3)], -5), 1)
  t.equal(seqFrom([item(1), day], 1), 0)
  t.end()
})

t.test('drawing begins with the last page, or with the block of a message and its day', t => {
  t.equal(firstIndex(pages(20), undefined), 0)
  t.equal(firstIndex(pages(21), undefined), 1)
  t.equal(firstIndex([item(1), day, ...pages(20)], undefined), 1, 'a page begins with its day')
  const blocks = [item(1), day, trail(step(2), step(4)), item(5)]
  t.equal(firstIndex(blocks, 4), 1)
  t.equal(firstIndex(blocks, 2), 1)
  t.equal(firstIndex(blocks, 1), 0)
  t.equal(firstIndex(blocks, 5), 3)
  t.equal(firstIndex([item(1), ...pages(20)], 99), 1, 'a message that is gone')
  t.end()
})

t.test('drawing ends before the first block that goes on beyond a message', t => {
  const blocks = [item(1), trail(step(2), step(4)), day, item(5), item(6)]
  t.equal(endIndex(blocks, undefined, 0), 5)
  t.equal(endIndex(blocks, 1, 0), 1)
  t.equal(endIndex(blocks, 3, 0), 1)
  t.equal(endIndex(blocks, 4, 0), 3)
  t.equal(endIndex(blocks, 5, 0), 4)
  t.equal(endIndex(blocks, 6, 0), 5)
  t.equal(endIndex(blocks, 1, 3), 4, 'at least the first block is drawn')
  t.end()
})
