import fc from 'fast-check'
import t from 'tap'
import { createPartialReader, createPartialTeller } from '../../../lib/client/outbox/partials.ts'
import type { PartialBody, PartialFrame } from '../../../lib/protocol/sealed/messages.ts'
import { manualClock } from '../../kit/manual-clock.ts'

function line() {
  const clock = manualClock()
  const sent: PartialFrame[] = []
  const link = { isThere: true }
  const teller = createPartialTeller(frame => link.isThere && sent.push(frame) > 0, clock)
  return { clock, sent, link, teller }
}

const grown = (text: string, block = 'b1', thinking = false): PartialBody => ({ turn: 't1', block, text, thinking })

t.test('a growing text is sent in full once, then only additions', t => {
  const { teller, sent } = line()
  for (const text of ['one', 'one two', 'one two three']) teller.tell(grown(text))
  t.strictSame(sent, [
    { ...grown('one'), n: 1 },
    { block: 'b1', n: 2, added: ' two' },
    { block: 'b1', n: 3, added: ' three' }
  ])
  t.end()
})

t.test('text of one moment is sent in full once, by the clock of the system too', t => {
  const sent: PartialFrame[] = []
  const teller = createPartialTeller(frame => sent.push(frame) > 0)
  for (const text of ['one', 'one two']) t.ok(teller.tell(grown(text)))
  t.strictSame(sent, [
    { ...grown('one'), n: 1 },
    { block: 'b1', n: 2, added: ' two' }
  ])
  t.end()
})

t.test('it is sent in full after a gap, after a rewrite, when someone joins, and periodically', t => {
  const { teller, sent, link, clock } = line()
  teller.tell(grown('one'))
  link.isThere = false
  t.notOk(teller.tell(grown('one two')))
  link.isThere = true
  teller.tell(grown('one two'))
  teller.tell(grown('One'))
  teller.startOver()
  teller.tell(grown('One more'))
  clock.advance(9_999)
  teller.tell(grown('One more thing'))
  clock.advance(1)
  teller.tell(grown('One more thing, at last'))
  teller.tell(grown('next', 'b2'))
  t.strictSame(
    sent.map(frame => ('text' in frame ? frame.text : `+${frame.added}`)),
    ['one', 'one two', 'One', 'One more', '+ thing', 'One more thing, at last', 'next']
  )
  t.end()
})

t.test('text from an earlier wrapper is accepted as it is', t => {
  const reader = createPartialReader(() => t.fail('nothing is missing'))
  t.strictSame(reader.take(grown('one')), grown('one'))
  t.strictSame(reader.take(grown('one two')), grown('one two'))
  t.end()
})

t.test('a client that joins midway knows that text is missing, and gets all of it with the next full text', t => {
  const { teller, sent } = line()
  let gaps = 0
  const reader = createPartialReader(() => gaps++)
  teller.tell(grown('one'))
  teller.tell(grown('one two'))
  const [, late] = sent
  t.equal(late && reader.take(late), undefined)
  t.equal(gaps, 1)
  teller.startOver()
  teller.tell(grown('one two'))
  t.strictSame(reader.take(sent.at(-1) ?? grown('')), grown('one two'))
  t.end()
})

t.test('eight growing texts are remembered, those that grew last', t => {
  let gaps = 0
  const reader = createPartialReader(() => gaps++)
  const blocks = Array.from({ length: 8 }, (_, at) => `b${at}`)
  for (const block of blocks) reader.take({ ...grown('one', block), n: 1 })
  const more = (block: string, n = 2) => reader.take({ block, n, added: ' two' })
  t.strictSame(more('b0'), grown('one two', 'b0'))
  reader.take({ ...grown('one', 'b8'), n: 1 })
  t.strictSame([more('b0', 3)?.text, more('b2')?.text, gaps], ['one two two', 'one two', 0])
  t.equal(more('b1'), undefined)
  t.equal(gaps, 1)
  t.end()
})

t.test('a frame that comes again or late changes nothing and is no gap', t => {
  const reader = createPartialReader(() => t.fail('nothing is missing'))
  t.strictSame(reader.take({ ...grown('one'), n: 3 }), grown('one'))
  t.equal(reader.take({ ...grown('One'), n: 3 }), undefined)
  t.equal(reader.take({ block: 'b1', n: 3, added: '!' }), undefined)
  t.equal(reader.take({ block: 'b1', n: 2, added: '!' }), undefined)
  t.strictSame(reader.take({ block: 'b1', n: 4, added: '!' }), grown('one!'))
  t.end()
})

t.test('with any loss, repeat or reordering, the shown text was really written, never goes back, and ends complete', t => {
  const word = fc.constantFrom('a', 'b ', '\n', 'words and ', '')
  const said = fc.array(fc.record({ word, block: fc.constantFrom('b1', 'b2'), isNew: fc.boolean(), waitMs: fc.nat(4_000) }), {
    maxLength: 40
  })
  const fates = fc.array(fc.record({ copies: fc.nat(2), late: fc.nat(3) }), { minLength: 90, maxLength: 90 })
  fc.assert(
    fc.property(said, fates, (steps, fate) => {
      const { teller, sent, clock } = line()
      const texts = new Map<string, string>()
      const stood = new Map<number | undefined, PartialBody>()
      for (const { word, block, isNew, waitMs } of steps) {
        clock.advance(waitMs)
        const text = isNew ? word : (texts.get(block) ?? '') + word
        texts.set(block, text)
        teller.tell(grown(text, block))
        stood.set(sent.at(-1)?.n, grown(text, block))
      }
      const arriving = sent
        .flatMap((frame, at) =>
          Array.from({ length: fate[at]?.copies ?? 1 }, (_, copy) => ({ frame, at: at + copy * (fate[at]?.late ?? 0) }))
        )
        .toSorted((one, other) => one.at - other.at)
      const reader = createPartialReader(() => {})
      const shownAt = new Map<string, number>()
      for (const { frame } of arriving) {
        const shown = reader.take(frame)
        if (!shown) continue
        const { block, n = 0 } = frame
        t.strictSame(shown, stood.get(n))
        t.ok(n > (shownAt.get(block) ?? 0))
        shownAt.set(block, n)
      }
      for (const [block, text] of texts) {
        teller.startOver()
        teller.tell(grown(text, block))
        const last = sent.at(-1)
        if (!last || reader.take(last)?.text !== text) return false
      }
      return true
    }),
    { numRuns: 500 }
  )
  t.end()
})
