import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentContext, RequestPermissionRequest, SessionNotification, SessionUpdate } from '@agentclientprotocol/sdk'
import t, { type Test } from 'tap'
import { firstChoices } from '../../../../lib/wrapper/agents/demo/options.ts'
import { retell } from '../../../../lib/wrapper/agents/demo/requests.ts'
import { farewell } from '../../../../lib/wrapper/agents/demo/story.ts'
import { describeImages, runTurn } from '../../../../lib/wrapper/agents/demo/turn.ts'
import { onePixel } from '../contract.ts'

interface Given {
  /** The option that the person chooses, or cancels. */
  chooses?: string
  answersForm?: object
  canAsk?: boolean
  images?: string
  mode?: string
  effort?: string
  directory?: string
}

/** Runs one turn with a client that needs a while for each report; then nothing may be reported until it has it. */
async function play(t: Test, prompt: string, given: Given = {}) {
  const { chooses = 'allow', answersForm = { action: 'cancel' }, canAsk = false, images, mode = 'default', effort = 'medium' } = given
  const directory = given.directory ?? t.testdir()
  const reported: SessionUpdate[] = []
  const stored: SessionUpdate[] = []
  const asked: RequestPermissionRequest[] = []
  let isBusy = false
  const client = {
    async notify(_: string, { update, sessionId }: SessionNotification) {
      t.equal(sessionId, 'demo')
      t.notOk(isBusy, 'one after the other')
      isBusy = true
      await new Promise(setImmediate)
      isBusy = false
      reported.push(update)
    },
    async request(method: string, params: RequestPermissionRequest) {
      t.notOk(isBusy, 'the client knows what is asked about')
      asked.push(params)
      if (method === 'elicitation/create') return answersForm
      return { outcome: chooses === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chooses } }
    }
  } as unknown as AgentContext
  const session = { id: 'demo', directory, mode, ...firstChoices, model: 'quick', effort, history: [] }
  const note = (update: SessionUpdate) => void stored.push(update)
  const { signal } = new AbortController()
  let failure: unknown
  await runTurn({ session, client, prompt, images, note, canAsk, signal }).catch(error => {
    failure = error
  })
  t.notOk(isBusy, 'nothing is on its way once the turn is over')
  const texts = reported.flatMap(update =>
    update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : []
  )
  return { reported, stored, asked, session, failure, directory, texts, said: texts.join('') }
}

const kinds = (updates: readonly SessionUpdate[]) => updates.map(({ sessionUpdate }) => sessionUpdate)
const stepsIn = (updates: readonly SessionUpdate[]) =>
  updates.flatMap(update => (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update' ? [update] : []))

const answers = [
  { chooses: 'allow', writes: true, mode: 'default' },
  { chooses: 'always', writes: true, mode: 'acceptEdits' },
  { chooses: 'reject', writes: false, mode: 'default' },
  { chooses: 'cancelled', writes: false, mode: 'default' },
  // What the published `happy` CLI answers for a refusal, whatever was offered.
  { chooses: 'cancel', writes: false, mode: 'default' }
]

for (const { chooses, writes, mode } of answers) {
  t.test(`the answer "${chooses}" ${writes ? 'lets' : 'does not let'} the demo agent write`, async t => {
    const { directory, session, asked, reported } = await play(t, 'SCRIPT: tool write {"path":"deep/a.txt","content":"hi"}', { chooses })
    t.equal(existsSync(join(directory, 'deep/a.txt')), writes)
    t.equal(session.mode, mode)
    t.same(
      asked[0]?.options.map(({ optionId, kind, name }) => [optionId, kind, name]),
      [
        ['allow', 'allow_once', 'Allow'],
        ['always', 'allow_always', 'Always allow edits'],
        ['reject', 'reject_once', 'Reject']
      ]
    )
    t.equal(
      reported.some(update => update.sessionUpdate === 'current_mode_update' && update.currentModeId === 'acceptEdits'),
      chooses === 'always'
    )
    t.match(reported.at(-1), { sessionUpdate: 'tool_call_update', status: writes ? 'completed' : 'failed', content: undefined })
  })
}

t.test('a change says what it is: a new file, or the text before and after; when edits are accepted nobody is asked', async t => {
  const script = 'SCRIPT: tool write {"path":"a.txt","content":"hi"}'
  const first = await play(t, script, { mode: 'acceptEdits' })
  const { directory } = first
  const path = join(directory, 'a.txt')
  t.same(first.asked, [])
  t.match(first.reported[0], {
    sessionUpdate: 'tool_call',
    title: 'Write a.txt',
    name: 'Write',
    kind: 'edit',
    status: 'pending',
    rawInput: { file_path: path, content: 'hi' },
    locations: [{ path }],
    content: [{ type: 'diff', path, oldText: null, newText: 'hi' }]
  })
  writeFileSync(path, 'before')
  const second = await play(t, script, { mode: 'acceptEdits', directory })
  t.match(second.reported[0], { title: 'Edit a.txt', name: 'Edit', content: [{ oldText: 'before', newText: 'hi' }] })
  const [begun, ended] = stepsIn(second.reported)
  t.match(begun?.toolCallId, /^step_\w{8}$/)
  t.equal(begun?.toolCallId, ended?.toolCallId)
  t.equal(readFileSync(path, 'utf8'), 'hi')
})

t.test('a command runs once it is allowed, and its output and failure are reported', async t => {
  const ok = await play(t, 'SCRIPT: tool exec {"command":"echo hello; echo there >&2"}')
  t.same(
    stepsIn(ok.reported).map(({ status }) => status),
    ['pending', 'in_progress', 'completed']
  )
  t.match(ok.reported[0], { title: 'echo hello; echo there >&2', name: 'Bash', kind: 'execute', rawInput: { command: /^echo/ } })
  t.match(ok.reported.at(-1), { content: [{ content: { text: 'hello\nthere' } }] })
  t.same(
    ok.asked[0]?.options.map(({ optionId }) => optionId),
    ['allow', 'reject'],
    'a command is never allowed for good'
  )
  const failed = await play(t, 'SCRIPT: tool exec {"command":"exit 3"}')
  t.match(failed.reported.at(-1), { status: 'failed' })
  const denied = await play(t, 'SCRIPT: tool exec {"command":"touch x"}', { chooses: 'reject' })
  t.same(
    stepsIn(denied.reported).map(({ status }) => status),
    ['pending', 'failed']
  )
  t.notOk(existsSync(join(denied.directory, 'x')))
})

t.test('a file is read without asking, and one that is not there is said to be missing', async t => {
  const directory = t.testdir({ 'a.txt': 'content' })
  const { reported, asked } = await play(t, 'SCRIPT: tool read {"path":"a.txt"}; tool read {"path":"b.txt"}', { directory })
  t.same(asked, [])
  t.match(stepsIn(reported), [
    {
      title: 'Read a.txt',
      name: 'Read',
      kind: 'read',
      status: 'in_progress',
      rawInput: { file_path: join(directory, 'a.txt') },
      locations: [{ path: join(directory, 'a.txt') }]
    },
    { status: 'completed', content: [{ content: { text: 'content' } }] },
    { title: 'Read b.txt' },
    { status: 'failed', content: [{ content: { text: 'There is no file b.txt.' } }] }
  ])
})

t.test('everything is stored as it is reported, after what the person wrote', async t => {
  const { reported, stored } = await play(t, 'SCRIPT: think hm; text one two; many 3 n 1; plan a | b; text done')
  t.match(stored[0], { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: /^SCRIPT/ } })
  t.same(stored.slice(1), reported)
  t.same(kinds(reported), [
    'agent_thought_chunk',
    ...Array(2).fill('agent_message_chunk'),
    ...Array(3).fill('agent_message_chunk'),
    'plan',
    'agent_message_chunk'
  ])
  const messages = reported.flatMap(update => (update.sessionUpdate === 'agent_message_chunk' ? [update.messageId] : []))
  t.equal(messages[0], messages[1], 'the words of a text are one message')
  t.equal(new Set(messages).size, 5)
})

t.test('the steps of a plan are done one by one', async t => {
  const directory = t.testdir({ 'a.txt': '' })
  const { reported } = await play(
    t,
    'SCRIPT: plan read | write | run; tool read {"path":"a.txt"}; tool write {"path":"b.txt"}; tool exec {"command":"true"}',
    {
      directory
    }
  )
  t.same(
    reported.flatMap(update =>
      update.sessionUpdate === 'plan'
        ? [update.entries.map(({ content, status, priority }) => `${content} ${status}${priority === 'medium' ? '' : priority}`)]
        : []
    ),
    [
      ['read in_progress', 'write pending', 'run pending'],
      ['read completed', 'write in_progress', 'run pending'],
      ['read completed', 'write completed', 'run in_progress'],
      ['read completed', 'write completed', 'run completed']
    ]
  )
})

t.test('a denied change ends the rest of a plan; without a plan the script goes on', async t => {
  const write = 'tool write {"path":"a.txt","content":"hi"}; text the rest'
  t.equal((await play(t, `SCRIPT: ${write}`, { chooses: 'reject' })).said, 'the rest')
  t.equal((await play(t, `SCRIPT: plan write | tell; ${write}`, { chooses: 'reject' })).said, '')
})

t.test('how much it thinks depends on the effort, but in a script', async t => {
  const thoughts = async (prompt: string, effort: string) => {
    const { reported } = await play(t, prompt, { effort, chooses: 'reject' })
    return kinds(reported).filter(kind => kind === 'agent_thought_chunk').length
  }
  const [low, medium, high] = [await thoughts('hello', 'low'), await thoughts('hello', 'medium'), await thoughts('hello', 'high')]
  t.equal(low, 0)
  t.ok(medium > 0)
  t.equal(high, 2 * medium)
  t.equal(await thoughts('SCRIPT: think hm', 'low'), 1)
  t.equal(await thoughts('SCRIPT: think hm', 'high'), 1)
})

t.test('it plays the part that the prompt asks for', async t => {
  for (const [prompt, given, said] of [
    ['I said no to “rm”', {}, /^Then I leave it as it is\.$/],
    ['I stopped you at “rm”', {}, /^Then I leave it as it is\.$/],
    ['so I said no to “rm”', { chooses: 'reject' }, /^(?!Then I leave)/],
    ['SCRIPT: look', {}, /^There is no image\.$/],
    ['SCRIPT: look', { images: 'You sent me an image.' }, /^You sent me an image\.$/],
    ['please ask me', {}, /cannot show questions\.$/],
    ['/ask', {}, /cannot show questions\.$/],
    ['hello', { images: 'You sent me an image.', chooses: 'reject' }, /^You sent me an image\./]
  ] as const) {
    t.match((await play(t, prompt, given)).said, said, prompt)
  }
  const planned = await play(t, 'hello', { mode: 'plan' })
  t.same([planned.asked, stepsIn(planned.reported)], [[], []], 'in plan mode it changes nothing')
  t.not(planned.said, '')
  t.ok(kinds((await play(t, 'make a plan', { chooses: 'reject' })).reported).includes('plan'))
})

t.test('a question is asked where it can be shown, and its answer repeated', async t => {
  const { asked, said } = await play(t, 'ask me', { canAsk: true, answersForm: { action: 'decline' } })
  t.equal(asked.length, 1)
  t.match(asked[0], { sessionId: 'demo', mode: 'form' })
  t.equal(said, retell({ action: 'decline' }))
})

t.test('the demo ends with a farewell, of someone who was let and of someone who was not', async t => {
  t.ok((await play(t, 'hello', { chooses: 'always' })).said.endsWith(farewell(true)))
  t.ok((await play(t, 'hello', { chooses: 'reject' })).said.endsWith(farewell(false)))
  t.not(farewell(true), farewell(false))
})

t.test('the risky part removes only a file that is its own', async t => {
  const made = await play(t, 'risky')
  t.equal(made.asked.length, 2)
  t.match(stepsIn(made.reported).at(-1), { status: 'completed' })
  const refused = await play(t, 'risky', { chooses: 'reject' })
  t.equal(refused.asked.length, 1, 'the file was not made, so there is nothing to remove')
  const { locations } = Object(stepsIn(made.reported)[0])
  const name = String(locations[0].path).slice(made.directory.length + 1)
  const directory = t.testdir({ [name]: 'of someone else' })
  const foreign = await play(t, 'risky', { directory })
  t.same([foreign.asked, stepsIn(foreign.reported)], [[], []])
  t.equal(readFileSync(join(directory, name), 'utf8'), 'of someone else')
})

t.test('an error of the script is one of the turn, and a stopped turn is none', async t => {
  t.match((await play(t, 'SCRIPT: text a; error; text b')).failure, { message: 'Internal error' })
  const stop = new AbortController()
  const said: unknown[] = []
  const client = {
    async notify(_: string, { update }: SessionNotification) {
      said.push(update)
      stop.abort()
    }
  } as unknown as AgentContext
  const session = { id: 'demo', directory: t.testdir(), mode: 'default', ...firstChoices, history: [] }
  await runTurn({ session, client, prompt: 'SCRIPT: text a; text b', images: undefined, note() {}, canAsk: false, signal: stop.signal })
  t.equal(said.length, 1)
  for (const prompt of ['SCRIPT: slow 60000 a b', 'SCRIPT: steady 60000 3 n']) {
    const soon = AbortSignal.timeout(20)
    await runTurn({ session, client, prompt, images: undefined, note() {}, canAsk: false, signal: soon })
  }
  t.equal(said.length, 1, 'it stops while it waits')
})

t.test('a script takes its time whatever the model, and a quick model hurries otherwise', async t => {
  const began = performance.now()
  const { texts } = await play(t, 'SCRIPT: slow 80 a b')
  t.same(texts, ['a ', 'b'])
  t.ok(performance.now() - began >= 75)
})

t.test('images are counted and measured, since it cannot see them', t => {
  t.equal(describeImages([{ type: 'text', text: 'hi' }]), undefined)
  const data = Buffer.from(onePixel).toString('base64')
  const png = { type: 'image' as const, mimeType: 'image/png', data }
  const size = `image/png, 1 × 1, ${onePixel.length} bytes`
  t.equal(describeImages([png]), `You sent me an image: ${size}.`)
  const other = { type: 'image' as const, mimeType: 'image/jpeg', data: 'AAAA' }
  t.equal(describeImages([png, { type: 'text', text: '' }, other]), `You sent me 2 images: ${size}; image/jpeg, 3 bytes.`)
  t.end()
})
