import t from 'tap'
import { messageBody } from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import { contentOfArgs, planOfArgs, queryOf } from '../../../../web/model/transcript/steps.ts'
import { addMessages, emptyTranscript } from '../../../../web/model/transcript/transcript.ts'
import { stepWordsOf } from '../../../../web/session/transcript/step-words.ts'

// How happy 1.2.5 reports a step of an ACP agent.
const ofHappy = (args: Record<string, unknown>) =>
  v.parse(messageBody, {
    role: 'session',
    content: {
      id: 'e1',
      time: 1,
      role: 'agent',
      turn: 't1',
      ev: { t: 'tool-call-start', call: 'c1', name: 'read', title: 'read', description: 'Running read', args }
    }
  })

for (const [args, says] of [
  [{ locations: [{ path: '/orchard/pears.txt' }] }, 'Read pears.txt'],
  [{ items: [], locations: [{ path: '/orchard/pears.txt', line: 12 }] }, 'Read pears.txt'],
  [{ locations: [{ path: '/orchard/pears.txt' }, { path: '/orchard/plums.txt' }] }, 'Read 2 files'],
  [{ locations: [null, 'pears.txt', { line: 1 }] }, 'Read read'],
  [{ locations: 'pears.txt' }, 'Read read']
] as const) {
  t.test(`a step from Happy's wrapper shows its arguments: ${JSON.stringify(args)}`, async t => {
    const { items } = addMessages(emptyTranscript, [{ seq: 1, localId: null, at: 1, body: ofHappy(args) }])
    const [step] = items
    if (step?.type !== 'step') throw new Error('No step.')
    const { verb, object } = stepWordsOf(step, 'done', '/orchard')
    t.equal(`${verb} ${object}`, says)
  })
}

t.test('a change that names no file is shown without one', async t => {
  const [before, after] = ['pears', 'plums']
  t.same(contentOfArgs('Edit', { old_string: before, new_string: after }), [{ type: 'diff', path: '', oldText: before, newText: after }])
  const edits = [{ old_string: before, new_string: after }]
  t.same(contentOfArgs('MultiEdit', { edits }), [{ type: 'diff', path: '', oldText: before, newText: after }])
  t.same(contentOfArgs('Write', { content: after }), [{ type: 'diff', path: '', oldText: null, newText: after }])
})

t.test('the changes that Codex reports by file are shown, and what is damaged is left out', async t => {
  const path = 'pears.txt'
  const rows: [unknown, object[]][] = [
    [{ add: { content: 'new' } }, [{ oldText: null, newText: 'new' }]],
    [{ delete: { content: 'old' } }, [{ oldText: 'old', newText: '' }]],
    [{ update: { old_content: 'old', new_content: 'new' } }, [{ oldText: 'old', newText: 'new' }]],
    [{ modify: { old_content: 'old', new_content: 'new' } }, [{ oldText: 'old', newText: 'new' }]],
    [{ update: { new_content: 'new' } }, [{ oldText: null, newText: 'new' }]],
    [{ update: { old_content: 'old' } }, []],
    [{ update: null, modify: 'x' }, []],
    [{ add: { content: 4 } }, []],
    [{}, []],
    [null, []],
    ['text', []]
  ]
  for (const [change, expected] of rows) {
    const diffs = expected.map(texts => ({ type: 'diff', path, ...texts }))
    t.same(contentOfArgs('CodexPatch', { changes: { [path]: change } }), diffs, JSON.stringify(change))
  }
  t.same(contentOfArgs('CodexPatch', { changes: { a: { add: { content: '1' } }, b: null, c: { delete: { content: '2' } } } }).length, 2)
  t.same(contentOfArgs('CodexPatch', { changes: null }), [])
  t.same(contentOfArgs('CodexPatch', { changes: 'text' }), [])
})

t.test('a to-do list is a plan only if one of its entries can be read', async t => {
  const rows: [unknown, unknown][] = [
    [
      [
        { content: 'Prune', status: 'completed' },
        { step: 'Rake', status: 'in_progress' }
      ],
      [
        ['Prune', 'completed'],
        ['Rake', 'in_progress']
      ]
    ],
    [[{ content: 'Prune', status: 'of a later version' }, { content: 4 }], [['Prune', 'pending']]],
    [[{ content: 4 }, null], undefined],
    [[], []],
    ['text', undefined],
    [undefined, undefined]
  ]
  for (const [todos, expected] of rows) {
    t.same(
      planOfArgs('TodoWrite', { todos })?.map(({ content, status }) => [content, status]),
      expected,
      JSON.stringify(todos)
    )
  }
  t.equal(planOfArgs('Bash', { todos: [{ content: 'Prune' }] }), undefined, 'another tool')
})

t.test('a change is read under every name that agents give its texts', async t => {
  for (const [before, after] of [
    ['old_string', 'new_string'],
    ['oldText', 'newText'],
    ['old_text', 'new_text']
  ] as const) {
    const change = (oldText: unknown, newText: unknown) => contentOfArgs('Edit', { file_path: 'a.ts', [before]: oldText, [after]: newText })
    t.same(change('a', 'b'), [{ type: 'diff', path: 'a.ts', oldText: 'a', newText: 'b' }])
    t.same(change('', 'b'), [{ type: 'diff', path: 'a.ts', oldText: null, newText: 'b' }], 'a new file')
    t.same(change(4, 'b'), [{ type: 'diff', path: 'a.ts', oldText: null, newText: 'b' }])
    t.same(change('a', 4), [])
  }
  t.same(contentOfArgs('Read', { file_path: 'a.ts', content: 'x' }), [], 'only an edit has its new text there')
  t.same(contentOfArgs('Write', { file_path: 'a.ts', content: 4 }), [])
})

t.test("changes among the arguments of Happy's wrapper come first, and what is damaged is left out", async t => {
  const change = { type: 'diff', path: 'a.ts', oldText: 'a', newText: 'b' }
  const items = [change, { path: 'b.ts', newText: 'c' }, { path: 'c.ts' }, { newText: 'd' }, { path: 4, newText: 'e' }, null, 'x']
  const read = [change, { type: 'diff', path: 'b.ts', oldText: null, newText: 'c' }]
  t.same(contentOfArgs('edit', { items, old_string: 'x', new_string: 'y' }), read)
  t.same(contentOfArgs('edit', { ...items }), read)
})

t.test('what a step searches for is read under every name that agents give it', async t => {
  for (const name of ['pattern', 'query', 'regex', 'search', 'glob']) t.equal(queryOf({ [name]: 'pears', other: 'x' }), 'pears', name)
  t.equal(queryOf({ pattern: 4, query: 'pears', glob: 'x' }), 'pears')
  t.equal(queryOf({}), undefined)
})

t.test('a plan is read under every name that agents give it', async t => {
  const entries = [{ content: 'Prune', status: 'completed' as const }]
  for (const name of ['todos', 'plan', 'entries']) t.same(planOfArgs('TodoWrite', { [name]: entries }), entries, name)
})
