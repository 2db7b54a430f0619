import t from 'tap'
import type { Step } from '../../../../lib/wrapper/agents/agent.ts'
import { bytesOf, cutText, shortened } from '../../../../lib/wrapper/session/requests/shorten.ts'

const stepOf = (changes: Partial<Step>): Step => ({
  call: 'c',
  name: 'Tool',
  title: 'Do it',
  kind: 'other',
  input: {},
  locations: [],
  content: [],
  ...changes
})
const toldIn = ({ title, input, locations, content }: Step) => ({ title, input, locations, content })
const long = 'x'.repeat(5000)
const rest = (kept: number) => `\n… ${5000 - kept} more characters: see the rest on the computer.`
const cut = (kept: number) => `${'x'.repeat(kept)}${rest(kept)}`

t.test('a step that just fits stays as it is, and one byte more shortens it', t => {
  const step = stepOf({ input: { text: 'ü'.repeat(100) } })
  const bytes = bytesOf(toldIn(step))
  t.equal(shortened(step, bytes).step, step)
  t.equal(shortened(step, bytes).isShort, false)
  t.equal(shortened(step, bytes - 1).isShort, true)
  t.end()
})

t.test('texts at any depth are cut and say so; all else stays', t => {
  const input = { list: [long, 7, null, { deep: long }], flag: true, none: null, short: 'y' }
  const { step, isShort } = shortened(stepOf({ input, locations: [long] }), 2500)
  t.equal(isShort, true)
  t.strictSame(step, stepOf({ input: { ...input, list: [cut(625), 7, null, { deep: cut(625) }] }, locations: [cut(625)] }))
  t.end()
})

t.test('of a changed file both sides begin at the line that differs, and of a new one its beginning is shown', t => {
  const before = 'same line\n'.repeat(500)
  const content = [{ type: 'diff' as const, path: '/a', oldText: `${before}old ${long}`, newText: `${before}new ${long}` }]
  const skipped = '… 5000 more characters: see the rest on the computer.\n'
  t.strictSame(shortened(stepOf({ content }), 2000).step.content, [
    { type: 'diff', path: '/a', oldText: `${skipped}old ${cut(500 - 4)}`, newText: `${skipped}new ${cut(500 - 4)}` }
  ])
  const created = [{ type: 'diff' as const, path: '/a', oldText: null, newText: long }]
  t.strictSame(shortened(stepOf({ content: created }), 2000).step.content, [
    { type: 'diff', path: '/a', oldText: null, newText: cut(1000) }
  ])
  const first = [{ type: 'diff' as const, path: '/a', oldText: 'old', newText: long }]
  t.strictSame(shortened(stepOf({ content: first }), 2000).step.content, [{ type: 'diff', path: '/a', oldText: 'old', newText: cut(1000) }])
  t.end()
})

t.test('of more texts than fit even shortened only the title is left', t => {
  const step = stepOf({ title: long, input: { all: Array(500).fill(long) }, locations: ['/a'], content: [{ type: 'text', text: long }] })
  t.strictSame(shortened(step, 2000), {
    isShort: true,
    step: stepOf({ title: cut(64), input: { shortened: 'Too large to show here: see it on the computer.' } })
  })
  t.end()
})

t.test('no character is cut in half', t => {
  t.equal(cutText('ab👩', 4), 'ab👩')
  t.equal(cutText('ab👩', 3), 'ab\n… 2 more characters: see the rest on the computer.')
  t.equal(cutText('abcd', 3), 'abc\n… 1 more characters: see the rest on the computer.')
  t.end()
})

t.test('of a diff without a difference both sides are shown from their last line on', t => {
  const same = `${'x'.repeat(1990)}\nlast line`
  const { step, isShort } = shortened(stepOf({ content: [{ type: 'diff', path: '/a', oldText: same, newText: same }] }), 1500)
  t.equal(isShort, true)
  const text = '… 1991 more characters: see the rest on the computer.\nlast line'
  t.strictSame(step.content, [{ type: 'diff', path: '/a', oldText: text, newText: text }])
  t.end()
})

t.test('of a diff with one long side that side is cut, whichever it is', t => {
  for (const [oldText, newText] of [
    [long, 'y'],
    ['y', long]
  ] as const) {
    const { step } = shortened(stepOf({ content: [{ type: 'diff', path: '/a', oldText, newText }] }), 3000)
    t.strictSame(step.content, [
      { type: 'diff', path: '/a', oldText: oldText === long ? cut(1500) : 'y', newText: newText === long ? cut(1500) : 'y' }
    ])
  }
  t.end()
})

t.test('of a diff that changes a line in the middle both sides begin at that line', t => {
  const around = 'same line\n'.repeat(300)
  const content = [{ type: 'diff' as const, path: '/a', oldText: `${around}old\n${around}`, newText: `${around}new\n${around}` }]
  const [diff] = shortened(stepOf({ content }), 4000).step.content
  const skipped = '… 3000 more characters: see the rest on the computer.\n'
  if (diff?.type !== 'diff') throw new Error('there is no diff')
  t.equal(diff.oldText?.slice(0, skipped.length + 4), `${skipped}old\n`)
  t.equal(diff.newText.slice(0, skipped.length + 4), `${skipped}new\n`)
  t.end()
})
