import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import { createQuestions, createRequests } from '../../../../../lib/wrapper/agents/claude/terminal/requests.ts'
import type { Translator } from '../../../../../lib/wrapper/agents/claude/transcript/history.ts'
import { stepOf } from '../../../../../lib/wrapper/agents/claude/transcript/steps.ts'
import type { Transcript } from '../../../../../lib/wrapper/agents/claude/transcript/transcript.ts'

const color = { question: 'Which color?', header: 'Color', options: [{ label: 'Red', description: 'A warm one' }, { label: 'Blue' }] }
const animals = { question: 'Which animals?', multiSelect: true, options: [{ label: 'Cat' }, { label: 'Dog, large' }] }
const form = { questions: [color, animals] }

function open(name: string, input: Record<string, unknown>, suggestions?: unknown[]) {
  const events: AgentEvent[] = []
  const questions = createQuestions(event => events.push(event))
  const gone = new AbortController()
  const hook = { tool_input: input, permission_suggestions: suggestions }
  const reply = questions.ask('call', stepOf('call', name, input), hook, gone.signal)
  return { events, questions, gone, reply }
}

function allowed(decision: object) {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow', ...decision } } }
}

t.test('a form is a question, and its answers are the input of the tool [W11]', async t => {
  const { events, questions, reply } = open('AskUserQuestion', form)
  t.match(events, [
    {
      type: 'question-asked',
      asked: {
        kind: 'form',
        call: 'call',
        title: 'Which color?',
        questions: [
          { id: 'Which color?', question: 'Which color?', header: 'Color', multiSelect: false, allowsOther: true },
          { question: 'Which animals?', multiSelect: true, options: [{ value: 'Cat' }, { value: 'Dog, large' }] }
        ]
      }
    }
  ])
  t.notOk(questions.answer('call', 'allow'), 'it takes no yes')
  t.ok(
    questions.answerForm('call', {
      'Which color?': { values: [], other: 'Green' },
      'Which animals?': { values: ['Cat', 'Dog, large'], other: 'an owl' }
    })
  )
  const answers = { 'Which color?': 'Green', 'Which animals?': 'Cat, Dog, large, an owl' }
  t.strictSame(await reply, allowed({ updatedInput: { ...form, answers } }))
  t.notOk(questions.answerForm('call', {}), 'once')
})

for (const answers of [undefined, {}, { 'Which color?': { values: [] } }]) {
  t.test(`${JSON.stringify(answers)} is not an answer: the agent continues without one [W11]`, async t => {
    const { questions, reply } = open('AskUserQuestion', form)
    t.ok(questions.answerForm('call', answers))
    t.match(await reply, { hookSpecificOutput: { decision: { behavior: 'deny', message: /declined to answer/ } } })
  })
}

t.test('an answer given at the terminal is reported [W11]', async t => {
  const { events, questions, reply } = open('AskUserQuestion', form)
  questions.close('call', true, { ...form, answers: { 'Which color?': 'Blue', 'Which animals?': '"Dog, large", Cat, and an owl' } })
  t.strictSame(await reply, {})
  t.strictSame(events.at(-1), {
    type: 'question-closed',
    ask: 'call',
    answers: { 'Which color?': { values: ['Blue'] }, 'Which animals?': { values: ['Dog, large', 'Cat'], other: 'and an owl' } }
  })
})

t.test('a form abandoned in its dialog closes without answers [W11]', async t => {
  const { events, gone, reply } = open('AskUserQuestion', form)
  gone.abort()
  t.strictSame(await reply, {})
  t.strictSame(events.at(-1), { type: 'question-closed', ask: 'call' })
})

t.test('a plan is started with its own input and the next mode, or rejected [W11]', async t => {
  const input = { plan: 'Draw a cat', planFilePath: '/plans/cat.md' }
  for (const mode of ['acceptEdits', 'default']) {
    const { questions, reply } = open('ExitPlanMode', input)
    t.ok(questions.answer('call', mode))
    t.strictSame(await reply, allowed({ updatedInput: input, updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }] }))
  }
  const { questions, reply } = open('ExitPlanMode', input)
  t.ok(questions.answer('call', 'deny', 'the dog first'))
  t.match(await reply, { hookSpecificOutput: { decision: { behavior: 'deny', message: /Keep planning: the dog first$/ } } })
})

t.test('a permanent yes says what Claude Code will then allow, and is not offered if unknown', async t => {
  const rule = (toolName: string, ruleContent?: string) => ({ toolName, ...(ruleContent && { ruleContent }) })
  const adding = (rules: object[], destination: string) => ({ type: 'addRules', behavior: 'allow', rules, destination })
  const cases: [object[], string | undefined][] = [
    [[{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }], 'Allow all edits this session'],
    [[{ type: 'setMode', mode: 'bypassPermissions', destination: 'session' }], 'Allow everything this session'],
    [[adding([rule('Bash', 'npm run:*')], 'localSettings')], 'Always allow npm run *'],
    [[adding([rule('Read', '//tmp/**'), rule('WebSearch')], 'session')], 'Allow Read(//tmp/**), WebSearch this session'],
    [[{ type: 'addDirectories', directories: ['/tmp'], destination: 'session' }], 'Allow work in /tmp this session'],
    [[{ type: 'setMode', mode: 'unheardOf', destination: 'session' }], undefined],
    [[adding([rule('WebSearch')], 'session'), { type: 'brandNew' }], undefined],
    [[], undefined]
  ]
  for (const [suggestions, label] of cases) {
    const { events, questions, reply } = open('Write', { file_path: '/a' }, suggestions)
    const [event] = events
    const choices = event?.type === 'permission-asked' ? event.asked.choices : []
    t.equal(choices.find(({ kind }) => kind === 'allow_always')?.label, label)
    if (label === undefined) continue
    t.ok(questions.answer('call', 'always'))
    t.strictSame(await reply, allowed({ updatedPermissions: suggestions }))
  }
})

t.test('an unreadable AskUserQuestion input is asked about like any tool', async t => {
  const { events } = open('AskUserQuestion', { questions: 'none' })
  t.match(events, [{ type: 'permission-asked' }])
})

t.test('a question about a use of a tool comes after its step, under the name of that use', async t => {
  const { requests, told, asks, begins } = working()
  begins('first', { command: 'make' })
  begins('second', { command: 'make' })
  begins('other', { command: 'ls' })
  t.equal(requests.areOpen, false)
  await asks({ command: 'make' })
  t.equal(requests.areOpen, true)
  await asks({ command: 'make' })
  await asks({ command: 'make' })
  await asks({ command: 'rm' })
  t.strictSame(told, [
    'reads for 1500 ms',
    'begins second Bash {"command":"make"}',
    'asks second make',
    'reads for 1500 ms',
    'begins first Bash {"command":"make"}',
    'asks first make',
    'asks question-1 make',
    'asks question-2 rm'
  ])
  requests.end(undefined, true)
  requests.end('first', true)
  requests.end('second', false)
  requests.endAll()
  t.strictSame(told.slice(8), ['closed first true', 'closed second false', 'closed question-1', 'closed question-2'])
  await asks({ command: 'ls' })
  t.equal(told.at(-1), 'asks question-3 ls', 'what ran before is over')
})

t.test('a question about a plan does not make it a step', async t => {
  const { requests, told } = working()
  const todos = { tool_name: 'TodoWrite', tool_input: { todos: [{ content: 'Tea' }] } }
  requests.begin({ hook_event_name: 'PreToolUse', tool_use_id: 'plan', ...todos })
  void requests.ask({ hook_event_name: 'PermissionRequest', ...todos }, new AbortController().signal)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(told, ['asks plan TodoWrite'])
})

t.test('a use that has ended is not asked about any more', async t => {
  const { requests, told, asks, begins } = working()
  begins('first', { command: 'make' })
  requests.end('first', true)
  begins(undefined, { command: 'make' })
  await asks({ command: 'make' })
  t.strictSame(told, ['asks question-1 make'])
})

t.test('a question whose dialog is closed before it is asked is not shown', async t => {
  const { told, asks, begins } = working()
  begins('first', { command: 'make' })
  const gone = new AbortController()
  const asked = asks({ command: 'make' }, gone.signal)
  gone.abort()
  t.strictSame(await asked, {})
  t.strictSame(told.slice(2), [])
})

t.test('a step shows what a file had before it is overwritten, read when its use begins', async t => {
  const directory = t.testdir({ 'a.txt': 'old' })
  const file = join(directory, 'a.txt')
  const input = { file_path: file, content: 'new' }
  const { requests, events } = working()
  requests.begin({ hook_event_name: 'PreToolUse', tool_use_id: 'first', tool_name: 'Write', tool_input: input })
  writeFileSync(file, 'new')
  void requests.ask({ hook_event_name: 'PermissionRequest', tool_name: 'Write', tool_input: input }, new AbortController().signal)
  await new Promise(resolve => setImmediate(resolve))
  t.match(events, [{ asked: { step: { content: [{ type: 'diff', path: file, oldText: 'old', newText: 'new' }] } } }])
  t.equal(requests.overwritten('first', 'Write', input), 'old')
})

t.test('a no says who said it, and why; a yes at the terminal has no other word', async t => {
  const { questions, reply, events } = open('Bash', { command: 'make' })
  t.match(events, [
    {
      asked: {
        choices: [
          { id: 'allow', label: 'Allow once', kind: 'allow_once' },
          { id: 'deny', label: 'Deny', kind: 'reject_once' }
        ]
      }
    }
  ])
  t.equal(questions.areOpen, true)
  t.notOk(questions.answerForm('call', {}))
  t.notOk(questions.answer('call', 'unheard of'))
  t.notOk(questions.answer('other', 'deny'))
  t.ok(questions.answer('call', 'deny'))
  t.equal(questions.areOpen, false)
  const denied = (message: string) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } }
  })
  t.strictSame(await reply, denied('The user said no, on their phone.'))
  const reasoned = open('Bash', { command: 'make' })
  reasoned.questions.answer('call', 'deny', 'ask Ann')
  t.strictSame(await reasoned.reply, denied('The user said no, on their phone: ask Ann'))
  const plan = open('ExitPlanMode', { plan: 'Tea' })
  t.match(plan.events, [
    {
      asked: {
        choices: [
          { label: 'Yes, and edit freely', kind: 'allow_always' },
          { label: 'Yes, and ask before edits', kind: 'allow_once' },
          { label: 'No, keep planning', kind: 'reject_once' }
        ]
      }
    }
  ])
  plan.questions.answer('call', 'deny')
  t.strictSame(await plan.reply, denied('The user said no, on their phone to this plan. Keep planning.'))

  const there = open('Bash', { command: 'make' })
  there.gone.abort()
  there.questions.close('call', true)
  t.strictSame(there.events.slice(1), [{ type: 'permission-closed', ask: 'call' }])
  const form_ = open('AskUserQuestion', form)
  form_.questions.close('call', false, { ...form, answers: { 'Which color?': 'Blue' } })
  t.strictSame(form_.events.slice(1), [{ type: 'question-closed', ask: 'call' }])
  const silent = open('AskUserQuestion', form)
  silent.questions.close('call', true)
  t.strictSame(silent.events.slice(1), [{ type: 'question-closed', ask: 'call' }])
})

t.test('a yes allows what was asked as it was asked', async t => {
  const { questions, reply } = open('Bash', { command: 'make' })
  t.ok(questions.answer('call', 'allow'))
  t.strictSame(await reply, allowed({}))
})

t.test('a question of a version that names neither a tool nor an input is asked too', async t => {
  const { requests, told } = working()
  const reply = requests.ask({ hook_event_name: 'PermissionRequest' }, new AbortController().signal)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(told, ['asks question-1 Tool'])
  t.ok(requests.answer('question-1', 'allow'))
  t.strictSame(await reply, allowed({}))
})

/** Claude Code at work in its terminal, with uses of its shell. */
function working() {
  const told: string[] = []
  const events: AgentEvent[] = []
  const translator = {
    step: () => undefined,
    begin: (call: string, name: string, input: object) => told.push(`begins ${call} ${name} ${JSON.stringify(input)}`)
  } as unknown as Translator
  const transcript = {
    async readUntil(_: () => boolean, withinMs: number) {
      told.push(`reads for ${withinMs} ms`)
    }
  } as Partial<Transcript> as Transcript
  const requests = createRequests(
    event => {
      events.push(event)
      if (event.type === 'permission-asked') told.push(`asks ${event.asked.ask} ${event.asked.step.title}`)
      if (event.type === 'permission-closed') told.push(['closed', event.ask, event.approved].join(' ').trim())
    },
    () => ({ translator, transcript })
  )
  return {
    requests,
    told,
    events,
    begins: (tool_use_id: string | undefined, tool_input: Record<string, unknown>) =>
      requests.begin({ hook_event_name: 'PreToolUse', tool_use_id, tool_name: 'Bash', tool_input }),
    /** Resolves when it is asked; or to its answer, if the dialog is gone. */
    asks: (tool_input: Record<string, unknown>, gone = new AbortController().signal) =>
      Promise.race([
        requests.ask({ hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input }, gone),
        new Promise(resolve => setImmediate(resolve))
      ])
  }
}
