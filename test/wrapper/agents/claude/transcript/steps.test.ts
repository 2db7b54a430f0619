import t from 'tap'
import { stepOf } from '../../../../../lib/wrapper/agents/claude/transcript/steps.ts'

t.test('an input that is no text stands in no title, place or change', async t => {
  const wrong = { a: 1 }
  const steps = [
    stepOf('1', 'Bash', { command: wrong }),
    stepOf('2', 'Grep', { pattern: null }),
    stepOf('3', 'WebFetch', { url: 5 }),
    stepOf('4', 'Write', { file_path: wrong, content: 'text' }),
    stepOf('5', 'Edit', { file_path: '/a/b.txt', old_string: 'old', new_string: wrong })
  ]
  t.strictSame(
    steps.map(({ title }) => title),
    ['Run a command', 'Search', 'Fetch', 'Write', 'Edit b.txt']
  )
  t.strictSame(
    steps.map(({ locations, content }) => [locations, content]),
    [
      [[], []],
      [[], []],
      [[], []],
      [[], []],
      [['/a/b.txt'], []]
    ]
  )
})
