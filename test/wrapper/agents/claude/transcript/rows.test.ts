import t from 'tap'
import { readRow, resultText } from '../../../../../lib/wrapper/agents/claude/transcript/rows.ts'

const said: [text: string, row: { type: string; text?: string } | undefined][] = [
  ['<command-name>/compact</command-name>', { type: 'command', text: '/compact' }],
  [
    '<command-message>mine</command-message>\n<command-name>/mine</command-name>\n<command-args>this\nand that</command-args>',
    { type: 'command', text: '/mine this\nand that' }
  ],
  ['\n  <command-name>mine</command-name>', { type: 'command', text: '/mine' }],
  ['<command-message>mine</command-message>', undefined],
  ['<local-command-stdout>Compacted</local-command-stdout>', undefined],
  ['Why <command-name>/mine</command-name>?', { type: 'block' }]
]

t.test('a command is read as it was typed; what a person only writes about one is their text', async t => {
  for (const [content, row] of said) {
    const rows = readRow(JSON.stringify({ type: 'user', uuid: 'u1', message: { content } }), 0)
    t.equal(rows.length, row ? 1 : 0, content)
    if (row) t.match(rows[0], { ...row, uuid: 'u1', index: 0 }, content)
  }
})

t.test('the tokens of an answer count however they were used, by the model that was asked for', async t => {
  const usage = { input_tokens: 1, output_tokens: 20, cache_read_input_tokens: 300, cache_creation_input_tokens: 4_000 }
  const used = (message: object, about: object = {}) =>
    readRow(JSON.stringify({ type: 'assistant', uuid: 'u', message: { content: [], ...message }, ...about }), 0)
  t.strictSame(used({ model: 'm', usage }), [{ type: 'usage', used: 4_321, model: 'm' }])
  t.strictSame(used({ model: 'm', usage }, { requestedModel: 'asked' }), [{ type: 'usage', used: 4_321, model: 'asked' }])
  t.strictSame(used({ model: 'm', usage: { input_tokens: 1 } }), [{ type: 'usage', used: 1, model: 'm' }])
  t.strictSame(used({ model: 'm', usage: { ...usage, output_tokens: null, cache_read_input_tokens: -1 } }), [
    { type: 'usage', used: 4_001, model: 'm' }
  ])
  t.strictSame(used({ model: 'm', usage: { output_tokens: 1 } }), [])
  t.strictSame(used({ usage }), [])
  t.strictSame(used({ model: '<synthetic>', usage }, { isApiErrorMessage: true }), [])
  t.strictSame(used({ model: 'm', usage }, { type: 'user' }), [])
})

t.test('the result of a tool is the text in it', async t => {
  t.equal(resultText('all of it'), 'all of it')
  t.equal(
    resultText([{ type: 'text', text: 'one' }, { type: 'image' }, null, 'odd', { text: 5 }, { type: 'text', text: 'two' }]),
    'one\ntwo'
  )
  for (const other of [undefined, null, 5, { text: 'one' }]) t.equal(resultText(other), '')
})
