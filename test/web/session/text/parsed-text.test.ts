import { computed } from '@preact/signals'
import t, { type Test } from 'tap'
import type * as ParsedText from '../../../../web/session/text/parsed-text.ts'
import { read, type TextJob } from '../../../../web/session/text/text-jobs.ts'
import { until } from '../../kit/device.ts'

t.test('a text is parsed in the worker once, and each answer belongs to its own question', async t => {
  const { readingOf, worker } = await page(t)
  const one: TextJob = { type: 'markdown', text: '# One' }
  const questions: TextJob[] = [
    one,
    { type: 'markdown', text: '# Two' },
    { type: 'diff', oldText: null, newText: '# One', isFile: true },
    { type: 'diff', oldText: null, newText: '# Two', isFile: true },
    { type: 'diff', oldText: '', newText: '# One', isFile: true },
    { type: 'diff', oldText: null, newText: '# One', isFile: false }
  ]
  for (const asked of questions) t.equal(readingOf(asked), undefined, 'nothing is known yet')
  for (const asked of questions) readingOf({ ...asked })
  t.same(
    worker.asked.map(({ asked }) => asked),
    questions
  )
  t.strictSame(worker.urls, ['/reader.js'])
  const answers = questions.map(read)
  for (const at of [5, 0, 3, 1, 4, 2]) worker.answer(at, answers[at])
  worker.tell({ id: 99, answer: [] })
  await settled()
  t.same(questions.map(readingOf), answers)
  t.equal(worker.asked.length, 6, 'what is known is not asked again')
  const tooLarge: TextJob = { type: 'markdown', text: '# Too large' }
  readingOf(tooLarge)
  worker.answer(6, null)
  await settled()
  t.equal(readingOf(tooLarge), null)
})

t.test('the forty newest texts stay parsed, older ones are parsed again', async t => {
  const { readingOf, worker } = await page(t)
  const text = (at: number): TextJob => ({ type: 'markdown', text: `text ${at}` })
  for (let at = 0; at < 41; at++) readingOf(text(at))
  readingOf(text(1))
  t.equal(worker.asked.length, 41)
  readingOf(text(0))
  t.equal(worker.asked.length, 42)
  t.same(worker.asked.at(-1)?.asked, text(0))
})

t.test('a worker that fails leaves its questions, and all later ones, to the page', async t => {
  const { readingOf, worker, shown } = await page(t)
  const [first, second, later]: TextJob[] = ['# First', '# Second', '# Later'].map(text => ({ type: 'markdown', text }))
  if (!first || !second || !later) throw new Error('three questions')
  readingOf(first)
  readingOf(second)
  worker.answer(0, null)
  await settled()
  worker.fail()
  t.same(await shown(second), read(second))
  t.equal(readingOf(first), null, 'what it has answered stays')
  t.same(await shown(later), read(later))
  t.equal(worker.asked.length, 2)
  t.equal(worker.urls.length, 1, 'no other worker is started')
})

t.test('a browser without workers reads texts in the page', async t => {
  const { shown } = await page(t, { Worker: undefined })
  const change: TextJob = { type: 'diff', oldText: 'a\n', newText: 'b\n', isFile: true }
  t.same(await shown(change), read(change))
})

t.test('where scripts need to be trusted, the address of the worker is', async t => {
  const policies: string[] = []
  const trustedTypes = {
    createPolicy(name: string, { createScriptURL }: { createScriptURL(url: string): string }) {
      policies.push(name)
      return { createScriptURL: (url: string) => ({ trusted: createScriptURL(url) }) }
    }
  }
  const { readingOf, worker } = await page(t, { trustedTypes })
  readingOf({ type: 'markdown', text: 'x' })
  t.same(policies, ['afield-reader'])
  t.same(worker.urls, [{ trusted: '/reader.js' }])
})

t.test('a text is long above 20 000 characters, a change counts both its texts', async t => {
  const { isLong } = await page(t)
  const text = (length: number) => 'x'.repeat(length)
  t.notOk(isLong({ type: 'markdown', text: text(20_000) }))
  t.ok(isLong({ type: 'markdown', text: text(20_001) }))
  const change = (old: number | null, next: number) =>
    isLong({ type: 'diff', oldText: old === null ? null : text(old), newText: text(next), isFile: true })
  t.same([change(10_000, 10_000), change(10_001, 10_000), change(null, 20_000), change(null, 20_001)], [false, true, false, true])
})

/** A page just opened, with a worker that answers when it is told to. */
async function page(t: Test, missing: object = {}) {
  const worker = {
    urls: [] as unknown[],
    asked: [] as { id: number; asked: TextJob }[],
    tell: (_data: object): void => {},
    fail: (): void => {},
    answer: (at: number, answer: unknown) => worker.tell({ id: worker.asked[at]?.id, answer })
  }
  class Worker {
    constructor(url: unknown) {
      worker.urls.push(url)
    }
    addEventListener(name: 'message' | 'error', heard: (event: object) => void) {
      if (name === 'error') worker.fail = () => heard({})
      else worker.tell = data => heard({ data })
    }
    postMessage(message: { id: number; asked: TextJob }) {
      worker.asked.push(message)
    }
  }
  for (const [name, value] of Object.entries({ READER: '/reader.js', Worker, ...missing })) {
    t.intercept(globalThis, name as keyof typeof globalThis, { value })
  }
  const { readingOf, isLong }: typeof ParsedText = await import(
    `../../../../web/session/text/parsed-text.ts?${t.name.replaceAll(' ', '-')}`
  )
  const shown = (asked: TextJob) =>
    until(
      computed(() => readingOf(asked)),
      answer => answer !== undefined
    )
  return { readingOf, isLong, worker, shown }
}

/** Answers reach the page once the promises that carry them have settled. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
