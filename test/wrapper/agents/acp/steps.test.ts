import t from 'tap'
import { mergeStep } from '../../../../lib/wrapper/agents/acp/steps.ts'

type Update = Parameters<typeof mergeStep>[1]

const content = (output: unknown, blocks?: object[]) =>
  mergeStep(undefined, { toolCallId: 'c', rawOutput: output, content: blocks } as unknown as Update).content
const block = (text: string) => ({ type: 'content', content: { type: 'text', text } })
const change = { type: 'diff', path: '/a/b', oldText: null, newText: 'new' }

t.test('a result that is only text in the raw output is shown, a second text is not', async t => {
  t.strictSame(content('made'), [{ type: 'text', text: 'made' }])
  for (const other of [' \n', { made: true }, undefined]) t.strictSame(content(other), [])
  const merged = (known: object[]) => {
    const before = mergeStep(undefined, { toolCallId: 'c', content: known } as unknown as Update)
    return mergeStep(before, { toolCallId: 'c', rawOutput: 'made' } as unknown as Update).content
  }
  t.strictSame(merged([block('done')]), [{ type: 'text', text: 'done' }])
  t.strictSame(merged([change]), [change, { type: 'text', text: 'made' }])
})

t.test('a long text loses its middle, and a large change is not shown', async t => {
  const half = 'x'.repeat(32 * 1024)
  t.strictSame(content(undefined, [block(`${half}middle${half}`)]), [{ type: 'text', text: `${half}\n… 6 characters left out …\n${half}` }])
  t.strictSame(content(undefined, [{ ...change, newText: 'x'.repeat(512 * 1024 + 1) }]), [
    { type: 'text', text: '/a/b: too large to show here.' }
  ])
})
