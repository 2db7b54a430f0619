import t from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import { createQuestions } from '../../../../../lib/wrapper/agents/claude/terminal/requests.ts'
import { stepOf } from '../../../../../lib/wrapper/agents/claude/transcript/steps.ts'

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
