import t from 'tap'
import { promptOf, readRow, resultText, withoutPasteMarks } from '../../../../../lib/wrapper/agents/claude/transcript/rows.ts'

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

const line = (row: object) => JSON.stringify({ type: 'user', uuid: 'u', message: { content: 'hello' }, ...row })
const textsIn = (row: object, since = 0) => readRow(line(row), since).flatMap(row => (row.type === 'block' ? [row] : []))

t.test('what Claude Code writes for itself is no row, and no other line is', async t => {
  t.equal(textsIn({}).length, 1)
  for (const mark of ['isMeta', 'isSidechain', 'isCompactSummary']) t.strictSame(readRow(line({ [mark]: true }), 0), [], mark)
  const resumed = { type: 'assistant', message: { model: '<synthetic>', content: 'No response requested.' } }
  t.strictSame(readRow(line(resumed), 0), [])
  t.equal(textsIn({ ...resumed, isApiErrorMessage: true }).length, 1, 'an error that it reports')
  for (const other of ['{', '5', 'null', '{}', line({ type: 'summary' }), line({ uuid: 5 })]) t.strictSame(readRow(other, 0), [], other)
})

t.test('what is older than the reader is not read; what has no time, or the same, is', async t => {
  const timestamp = '1970-01-01T00:00:01Z'
  const queued = { type: 'attachment', attachment: { type: 'queued_command', commandMode: 'prompt', prompt: 'hello' } }
  for (const row of [{}, queued]) {
    t.equal(textsIn({ ...row, timestamp }, 1_001).length, 0)
    t.equal(textsIn({ ...row, timestamp }, 1_000).length, 1)
    t.equal(textsIn(row, 1_001).length, 1)
  }
})

t.test('a prompt accepted into a turn is one of its person', async t => {
  const queued = (attachment: object, about: object = {}) =>
    readRow(line({ type: 'attachment', attachment: { type: 'queued_command', commandMode: 'prompt', ...attachment }, ...about }), 0)
  const text = (text: string) => [{ type: 'block', by: 'user', uuid: 'u', index: 0, block: { type: 'text', text }, isLast: false }]
  t.strictSame(queued({ prompt: 'tea' }), text('tea'))
  t.strictSame(queued({ prompt: [{ type: 'text', text: 'tea' }, { type: 'image' }], origin: { kind: 'human' } }), text('tea'))
  t.strictSame(queued({ prompt: '\n\n<pasted_content id="1">\ntea\n</pasted_content id="1">\n' }), text('tea'))
  t.strictSame(queued({ prompt: ' \n' }), [])
  t.strictSame(queued({ prompt: 'tea' }, { isSidechain: true }), [])
  t.strictSame(queued({ prompt: 'tea', commandMode: 'bash' }), [])
  t.strictSame(queued({ prompt: 'tea', origin: { kind: 'task' } }), [])
})

t.test('only the last block of an answer that ends its turn is the last', async t => {
  const lastIn = (stop_reason: string | null, content: unknown) =>
    textsIn({ type: 'assistant', message: { stop_reason, content } }).map(({ index, isLast }) => [index, isLast])
  const [one, two] = ['one', 'two'].map(text => ({ type: 'text', text }))
  t.strictSame(lastIn('end_turn', [one, two]), [
    [0, false],
    [1, true]
  ])
  t.strictSame(lastIn('end_turn', [one, { type: 'unheard of' }]), [[0, false]])
  t.strictSame(lastIn('tool_use', [one]), [[0, false]])
  t.strictSame(lastIn(null, 'one'), [[0, false]])
  t.match(promptOf({ type: 'command', uuid: 'u', index: 2, text: '/mine' }), {
    ...{ type: 'block', by: 'user', uuid: 'u', index: 2, isLast: false },
    block: { type: 'text', text: '/mine' }
  })
})

t.test('a prompt is read without the marks around what was pasted; what Claude says is left as it is', async t => {
  const pasted = 'look:\n\n<pasted_content id="1">\nline 1\nline 2\n</pasted_content id="1">\n'
  const read = (type: string, text: string) =>
    textsIn({ type, message: { content: text } }).map(({ block }) => block.type === 'text' && block.text)
  t.strictSame(read('user', pasted), ['look:\nline 1\nline 2'])
  t.strictSame(read('assistant', pasted), [pasted])
  t.equal(withoutPasteMarks('\n\n<pasted_content id="1">tea</pasted_content>'), 'tea')
  for (const text of ['\n as it is', 'no </pasted_content> mark']) t.equal(withoutPasteMarks(text), text)
})

t.test('its own words are no prompts, an interruption is told, and Claude may write both', async t => {
  const read = (type: string, text: string) => readRow(line({ type, message: { content: text } }), 0).map(({ type }) => type)
  const own = ['local-command-stderr', 'local-command-caveat', 'system-reminder', 'task-notification', 'command-args']
  for (const tag of own) {
    t.strictSame(read('user', `\n<${tag}>x</${tag}>`), [], tag)
    t.strictSame(read('assistant', `<${tag}>x</${tag}>`), ['block'], tag)
  }
  t.strictSame(read('user', '[Request interrupted by user for tool use]'), ['interrupted'])
  t.strictSame(read('user', 'It says [Request interrupted by user]'), ['block'])
  t.strictSame(read('assistant', '[Request interrupted by user]'), ['block'])
})

t.test('a mode, a title and a goal are told as such', async t => {
  const goal = { type: 'goal_status', condition: 'Tea', met: false }
  t.strictSame(readRow('{"type":"permission-mode","permissionMode":"plan"}', 0), [{ type: 'mode', mode: 'plan' }])
  t.strictSame(readRow('{"type":"custom-title","customTitle":"Tea"}', 0), [{ type: 'title', title: 'Tea', byPerson: true }])
  t.strictSame(readRow('{"type":"ai-title","aiTitle":"Tea"}', 0), [{ type: 'title', title: 'Tea', byPerson: false }])
  t.strictSame(readRow('{"type":"ai-title","aiTitle":""}', 0), [])
  t.match(readRow(line({ type: 'attachment', sessionId: 's', attachment: goal }), 0), [
    { type: 'goal', goal: { status: 'active', text: 'Tea' } }
  ])
})
