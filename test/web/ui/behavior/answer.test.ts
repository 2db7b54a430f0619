import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { useAnswer } from '../../../../web/ui/behavior/answer.ts'
import { inComponent } from '../../kit/in-component.ts'

interface Props {
  readonly of: string
  readonly isOff?: boolean
  readonly afterMs?: number
}

/** A component that asks one question about each `of`. */
function open(t: Test, first: Props) {
  let props = first
  const asked: { of: string; answer(value: string): Promise<void>; fail(error: Error): Promise<void> }[] = []
  const component = inComponent(t, () => {
    const { of, isOff, afterMs } = props
    const ask = () =>
      new Promise<string>((answer, fail) => {
        asked.push({ of, answer: value => component.act(async () => answer(value)), fail: error => component.act(async () => fail(error)) })
      })
    return useAnswer(!isOff && ask, [of], afterMs)
  })
  // A timer may have the function of the first time.
  const { again } = component.latest
  return {
    asked,
    show(next: Props) {
      props = next
      component.again()
    },
    close: component.remove,
    again: () => component.act(again),
    now() {
      const { again: _, ...found } = component.latest
      return found
    }
  }
}

const nothing = { value: undefined, last: undefined, error: undefined }

t.test('a question is asked once, and again only if it is another', async t => {
  const { asked, show, now } = open(t, { of: 'a' })
  t.same(now(), nothing)
  await asked[0]?.answer('A')
  show({ of: 'a' })
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  show({ of: 'b' })
  t.same(now(), { ...nothing, last: 'A' }, 'the answer was not to this question')
  await asked[1]?.answer('B')
  t.same(now(), { ...nothing, value: 'B', last: 'B' })
  t.same(
    asked.map(({ of }) => of),
    ['a', 'b']
  )
})

t.test('an answer to an earlier question replaces nothing, nor does its failure', async t => {
  const { asked, show, now } = open(t, { of: 'a' })
  show({ of: 'b' })
  show({ of: 'c' })
  await asked[0]?.answer('A')
  t.same(now(), nothing)
  await asked[2]?.answer('C')
  await asked[1]?.fail(new Error('late'))
  t.same(now(), { ...nothing, value: 'C', last: 'C' })
})

t.test('a failure belongs to its question, and leaves the last answer', async t => {
  const { asked, show, now } = open(t, { of: 'a' })
  await asked[0]?.answer('A')
  show({ of: 'b' })
  const error = new Error('not found')
  await asked[1]?.fail(error)
  t.same(now(), { value: undefined, last: 'A', error })
  show({ of: 'c' })
  t.same(now(), { ...nothing, last: 'A' })
  show({ of: 'd' })
  await asked[3]?.fail(error)
  await asked[2]?.fail(new Error('late'))
  t.same(now(), { value: undefined, last: 'A', error })
})

t.test('a question asked once more keeps its answer until there is another, also if it fails', async t => {
  const { asked, again, now } = open(t, { of: 'a' })
  await asked[0]?.answer('A')
  again()
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  const error = new Error('gone')
  await asked[1]?.fail(error)
  t.same(now(), { value: 'A', last: 'A', error })
  again()
  await asked[2]?.answer('A2')
  t.same(now(), { ...nothing, value: 'A2', last: 'A2' })
  t.equal(asked.length, 3)
})

t.test('a first failure is all there is', async t => {
  const { asked, again, now } = open(t, { of: 'a' })
  const error = new Error('gone')
  await asked[0]?.fail(error)
  t.same(now(), { ...nothing, error })
  again()
  await asked[1]?.answer('A')
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
})

t.test('nothing is asked until it can be, and an answer outlives the time when it can', async t => {
  const { asked, show, now } = open(t, { of: 'a', isOff: true })
  t.equal(asked.length, 0)
  show({ of: 'a' })
  await asked[0]?.answer('A')
  show({ of: 'a', isOff: true })
  t.same(now(), { ...nothing, value: 'A', last: 'A' })
  t.equal(asked.length, 1)
  show({ of: 'a' })
  t.equal(asked.length, 2)
})

t.test('only what is still the question after a while is asked', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { asked, show, close } = open(t, { of: 'a', afterMs: 30 })
  mock.timers.tick(29)
  show({ of: 'b', afterMs: 30 })
  mock.timers.tick(29)
  t.equal(asked.length, 0)
  mock.timers.tick(1)
  t.same(
    asked.map(({ of }) => of),
    ['b']
  )
  show({ of: 'c', afterMs: 30 })
  close()
  mock.timers.tick(30)
  t.equal(asked.length, 1, 'nobody waits for an answer any more')
})
