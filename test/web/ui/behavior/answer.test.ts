import { createElement, render } from 'preact'
import { act } from 'preact/test-utils'
import t, { type Test } from 'tap'
import { useAnswer } from '../../../../web/ui/behavior/answer.ts'

interface Props {
  readonly of: string
  readonly isOff?: boolean
  readonly afterMs?: number
}

/** A component without a screen, which asks one question about each `of`. */
async function open(t: Test, first: Props) {
  const asked: { of: string; answer(value: string): Promise<void>; fail(error: Error): Promise<void> }[] = []
  const renders: ReturnType<typeof useAnswer<string>>[] = []
  function Asking({ of, isOff, afterMs }: Props) {
    const ask = () =>
      new Promise<string>((answer, fail) => {
        asked.push({ of, answer: value => act(async () => answer(value)), fail: error => act(async () => fail(error)) })
      })
    renders.push(useAnswer(!isOff && ask, [of], afterMs))
    return null
  }
  const place = { nodeType: 1, childNodes: [], firstChild: null } as never
  const show = (props: Props) => act(() => render(createElement(Asking, props), place))
  const close = () => act(() => render(null, place))
  t.teardown(close)
  await show(first)
  return {
    asked,
    show,
    close,
    // A timer may have the function of the first time.
    again: () => act(() => renders[0]?.again()),
    now() {
      const { again: _, ...found } = renders.at(-1) ?? { again: undefined }
      return found
    }
  }
}

const nothing = { value: undefined, last: undefined, error: undefined }

t.test('a question is asked once, and again only if it is another', async t => {
  const { asked, show, now } = await open(t, { of: 'a' })
  t.same(now(), nothing)
  await asked[0]?.answer('A')
  await show({ of: 'a' })
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  await show({ of: 'b' })
  t.same(now(), { ...nothing, last: 'A' }, 'the answer was not to this question')
  await asked[1]?.answer('B')
  t.same(now(), { ...nothing, value: 'B', last: 'B' })
  t.same(
    asked.map(({ of }) => of),
    ['a', 'b']
  )
})

t.test('an answer to an earlier question replaces nothing, nor does its failure', async t => {
  const { asked, show, now } = await open(t, { of: 'a' })
  await show({ of: 'b' })
  await show({ of: 'c' })
  await asked[0]?.answer('A')
  t.same(now(), nothing)
  await asked[2]?.answer('C')
  await asked[1]?.fail(new Error('late'))
  t.same(now(), { ...nothing, value: 'C', last: 'C' })
})

t.test('a failure belongs to its question, and leaves the last answer', async t => {
  const { asked, show, now } = await open(t, { of: 'a' })
  await asked[0]?.answer('A')
  await show({ of: 'b' })
  const error = new Error('not found')
  await asked[1]?.fail(error)
  t.same(now(), { value: undefined, last: 'A', error })
  await show({ of: 'c' })
  t.same(now(), { ...nothing, last: 'A' })
  await show({ of: 'd' })
  await asked[3]?.fail(error)
  await asked[2]?.fail(new Error('late'))
  t.same(now(), { value: undefined, last: 'A', error })
})

t.test('a question asked once more keeps its answer until there is another, also if it fails', async t => {
  const { asked, again, now } = await open(t, { of: 'a' })
  await asked[0]?.answer('A')
  await again()
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  const error = new Error('gone')
  await asked[1]?.fail(error)
  t.same(now(), { value: 'A', last: 'A', error })
  await again()
  await asked[2]?.answer('A2')
  t.same(now(), { ...nothing, value: 'A2', last: 'A2' })
  t.equal(asked.length, 3)
})

t.test('a first failure is all there is', async t => {
  const { asked, again, now } = await open(t, { of: 'a' })
  const error = new Error('gone')
  await asked[0]?.fail(error)
  t.same(now(), { ...nothing, error })
  await again()
  await asked[1]?.answer('A')
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
})

t.test('nothing is asked until it can be, and an answer outlives the time when it can', async t => {
  const { asked, show, now } = await open(t, { of: 'a', isOff: true })
  t.equal(asked.length, 0)
  await show({ of: 'a' })
  await asked[0]?.answer('A')
  await show({ of: 'a', isOff: true })
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  t.equal(asked.length, 1)
  await show({ of: 'a' })
  t.equal(asked.length, 2)
})

t.test('only what is still the question after a while is asked', async t => {
  const { asked, show, close } = await open(t, { of: 'a', afterMs: 30 })
  await show({ of: 'b', afterMs: 30 })
  t.equal(asked.length, 0)
  await new Promise(resolve => setTimeout(resolve, 60))
  t.same(
    asked.map(({ of }) => of),
    ['b']
  )
  await show({ of: 'c', afterMs: 30 })
  await close()
  await new Promise(resolve => setTimeout(resolve, 60))
  t.equal(asked.length, 1, 'nobody waits for an answer any more')
})
