import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import { createTitles, createTranslator, readSince, readTurn } from '../../../../../lib/wrapper/agents/claude/transcript/history.ts'
import { readRow } from '../../../../../lib/wrapper/agents/claude/transcript/rows.ts'
import { fetchedOf } from '../../../../../web/model/transcript/web-fetch.ts'

/** How a use of a tool ends that says this beside its result. */
function endOf(name: string, toolUseResult: unknown) {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event), isOurs: () => false })
  const content = [{ type: 'tool_result', tool_use_id: 'c1', content: 'The page.' }]
  translator.begin('c1', name, {})
  const line = JSON.stringify({ type: 'user', uuid: 'u1', message: { content }, toolUseResult })
  for (const row of readRow(line, 0)) if (row.type === 'block') translator.take(row)
  const ended = events.find(event => event.type === 'step-ended')
  if (ended === undefined) throw new Error('It did not end.')
  return ended.step.content
}

t.test('a web fetch has its status and size, as the app reads them', async t => {
  const told = endOf('WebFetch', { bytes: 48213, code: 200, codeText: 'OK', result: 'The page.', url: 'https://example.org' })
  t.same(told, [{ type: 'text', text: 'HTTP 200, 48213 bytes\n\nThe page.' }])
  t.same(fetchedOf(told), { status: 200, bytes: 48213 })
})

t.test('output of other tools in that field is not mistaken for a web response', async t => {
  for (const told of [undefined, 'Error: no', [1], { stdout: '' }, { code: 'x', bytes: 1 }])
    t.same(endOf('WebFetch', told), [{ type: 'text', text: 'The page.' }])
  t.same(endOf('Bash', { code: 200, bytes: 1 }), [{ type: 'text', text: 'The page.' }])
  t.equal(fetchedOf([{ type: 'text', text: 'It says: HTTP 200, 12 bytes' }]), undefined)
})

const prompt = (content: string) => ({ type: 'user', uuid: content, message: { content } })
const answer = (content: object[], stop_reason?: string) => ({ type: 'assistant', uuid: 'a', message: { content, stop_reason } })
const tool = { type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'make' } }
const result = (content: unknown, about = {}) => ({
  type: 'user',
  uuid: 'r',
  message: { content: [{ type: 'tool_result', tool_use_id: 'c', content, ...about }] }
})

t.test('what was recorded is sent with the end of each turn, and a step that was cut off ends with it', async t => {
  const place = recorded(t, [
    prompt('one'),
    answer([{ type: 'text', text: 'Done.' }], 'end_turn'),
    prompt('two'),
    answer([tool]),
    prompt('[Request interrupted by user]'),
    prompt('three'),
    answer([{ ...tool, id: 'd' }])
  ])
  const { events, upTo } = readSince(place, undefined)
  t.match(events, [
    { type: 'prompted', text: 'one', isOurs: false, row: 'one 0' },
    { type: 'text', text: 'Done.', block: 'a 0', row: 'a 0' },
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: 'two' },
    { type: 'step-started', row: 'c begins' },
    { type: 'step-ended', status: 'cancelled', row: 'c ends', step: { call: 'c', title: 'make' } },
    { type: 'turn-ended', reason: 'cancelled' },
    { type: 'prompted', text: 'three' },
    { type: 'step-started', row: 'd begins' },
    { type: 'step-ended', status: 'cancelled', row: 'd ends' }
  ])
  t.equal(events.length, 10)
  t.strictSame(readSince(upTo, undefined), { events: [], upTo })
})

t.test('the prompt being typed is ours, once; a command counts only as that prompt', async t => {
  const command = prompt('<command-name>/mine</command-name>\n<command-args>this</command-args>')
  const other = prompt('<command-name>/other</command-name>')
  const prompts = (rows: object[], handed: string | undefined) =>
    readSince(recorded(t, rows), handed).events.flatMap(event => (event.type === 'prompted' ? [[event.text, event.isOurs]] : []))
  t.strictSame(prompts([prompt('look'), prompt('look')], 'look'), [
    ['look', true],
    ['look', false]
  ])
  t.strictSame(prompts([other, command, prompt('look')], '/mine this'), [
    ['/mine this', true],
    ['look', false]
  ])
  t.strictSame(prompts([other, command], undefined), [])
})

t.test('of a turn that was sent live only our own prompt is repeated, and nothing has a name', async t => {
  const place = recorded(t, [prompt('from the desk'), prompt('ours'), answer([{ type: 'text', text: 'Done.' }], 'end_turn')])
  t.strictSame(readTurn(place, 'ours'), [
    { type: 'prompted', text: 'ours', isOurs: true, row: undefined },
    { type: 'text', block: 'a 0', text: 'Done.', thinking: false, row: undefined },
    { type: 'turn-ended', reason: 'done' }
  ])
})

t.test('thoughts and plans are sent as such; an empty thought and the result of a plan are not', async t => {
  const thinking = (thinking: string) => ({ type: 'thinking', thinking })
  const plan = { type: 'tool_use', id: 'c', name: 'TodoWrite', input: { todos: [{ content: 'Tea' }] } }
  t.strictSame(sent(t, [answer([thinking('Hm.'), thinking(' \n'), plan]), result('ok')]), [
    { type: 'text', block: 'a 0', text: 'Hm.', thinking: true, row: 'a 0' },
    { type: 'plan', entries: [{ content: 'Tea', status: 'pending' }], row: 'a 2' }
  ])
})

t.test('the result of a step tells how it ended; a long one loses its middle', async t => {
  const half = 'x'.repeat(32 * 1024)
  const cases: [content: unknown, about: object, status: string, text: string | undefined][] = [
    ['made', {}, 'completed', 'made'],
    [[{ type: 'text', text: 'made' }], { is_error: false }, 'completed', 'made'],
    ['', {}, 'completed', undefined],
    ['No such file.', { is_error: true }, 'failed', 'No such file.'],
    [
      "The user doesn't want to proceed with this tool use.",
      { is_error: true },
      'denied',
      "The user doesn't want to proceed with this tool use."
    ],
    ["The user doesn't want to proceed with this tool use.", {}, 'completed', "The user doesn't want to proceed with this tool use."],
    ['The person said no, on their phone', { is_error: true }, 'denied', 'The person said no, on their phone'],
    ['It said: User rejected', { is_error: true }, 'failed', 'It said: User rejected'],
    [`${half}middle${half}`, {}, 'completed', `${half}\n… 6 characters left out …\n${half}`]
  ]
  for (const [content, about, status, text] of cases) {
    const [began, ended] = sent(t, [answer([tool, tool]), result(content, about)])
    t.match(began, { type: 'step-started', row: 'c begins', step: { title: 'make' } })
    t.match(ended, { type: 'step-ended', status, row: 'c ends', step: { title: 'make' } })
    t.strictSame(ended?.type === 'step-ended' && ended.step.content, text === undefined ? [] : [{ type: 'text', text }])
  }
})

t.test('a step is begun once, with what it overwrites; after its result it is no longer known', async t => {
  const events: AgentEvent[] = []
  const asked: unknown[] = []
  const translator = createTranslator({
    emit: event => events.push(event),
    isOurs: () => false,
    overwritten(...args) {
      asked.push(args)
      return 'old'
    }
  })
  const input = { file_path: '/a/b', content: 'new' }
  translator.begin('c', 'Write', input)
  translator.begin('c', 'Write', input)
  t.strictSame(asked, [['c', 'Write', input]])
  t.match(translator.step('c')?.content, [{ type: 'diff', oldText: 'old', newText: 'new' }])
  for (const row of readRow(JSON.stringify(result('made')), 0)) if (row.type === 'block') translator.take(row)
  t.equal(translator.step('c'), undefined)
  translator.cutSteps()
  t.strictSame(
    events.map(({ type }) => type),
    ['step-started', 'step-ended']
  )
})

t.test('the result of a step that began before has no title, and is sent', async t => {
  t.match(sent(t, [result('made')]), [{ type: 'step-ended', status: 'completed', row: 'c ends', step: { call: 'c', name: '', title: '' } }])
})

t.test("a title is sent when it changes; a person's is kept", async t => {
  const told: AgentEvent[] = []
  const take = createTitles(event => told.push(event))
  for (const [title, byPerson] of [
    ['A gate', false],
    ['A gate', false],
    ['A blue gate', false],
    ['My gate', true],
    ['A red gate', false],
    ['My gate', true],
    ['Our gate', true]
  ] as const)
    take({ type: 'title', title, byPerson })
  t.strictSame(
    told.map(event => event.type === 'title' && event.title),
    ['A gate', 'A blue gate', 'My gate', 'Our gate']
  )
})

function sent(t: Test, rows: object[]): AgentEvent[] {
  return readSince(recorded(t, rows), undefined).events
}

/** A transcript with these lines, from its beginning. */
function recorded(t: Test, rows: object[]) {
  const file = join(t.testdir(), 'one.jsonl')
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return { file, offset: 0 }
}
