import t, { type Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { lacksPublished } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import type { PersonAtTerminal } from '../wrapper/kit/terminal.ts'
import { computerWithRealClaude, thePlan } from './computer.ts'

// What the real Claude Code asks on its own screen beside permissions, answered from either side; see claude.test.ts for the variables.
const how = { skip: lacksPublished('claude'), timeout: 120_000 }

async function claudeAtTerminal(t: Test, args: readonly string[] = []) {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown(['claude', '--yes', ...args])
  const session = await phone.session()
  await terminal.sees(/❯/)
  return { terminal, session }
}

t.test('a question on its screen is a form on the phone, and the agent gets the answers [W11]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  await session.say('ask several')
  const id = await asked(session)
  await terminal.sees(/Which color\?/)
  t.match(questionsOf(session, id), [
    {
      question: 'Which color?',
      header: 'Color',
      multiSelect: false,
      options: [{ label: 'Red', description: 'A warm one' }, { label: 'Blue' }]
    },
    {
      question: 'Which animals?',
      header: 'Animals',
      multiSelect: true,
      options: [{ label: 'Cat' }, { label: 'Dog, large' }, { label: 'Owl' }]
    }
  ])
  await answer(session, id, { 'Which color?': { values: [], other: 'Green, please' }, 'Which animals?': { values: ['Cat', 'Dog, large'] } })
  await session.until(session => turnsEnded(session) === 1)
  await terminal.sees(/Which color\? → Green, please/)
  t.match(texts(session).at(-1), /"Which color\?"="Green, please", "Which animals\?"="Cat, Dog, large"/)
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')

  await session.say('ask one')
  const next = await asked(session)
  await answer(session, next, undefined)
  await session.until(session => turnsEnded(session) === 2)
  t.match(texts(session).at(-1), /declined to answer/, 'the agent goes on without')
})

t.test('a question answered at the terminal closes on the phone, with the answer given there [W11]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  await session.say('ask several')
  const id = await asked(session)
  await answersAt(terminal, /Which color\?/, '2')
  await answersAt(terminal, /Which animals\?/, '1')
  await answersAt(terminal, /\[✔\] Cat/, '2')
  await answersAt(terminal, /\[✔\] Dog, large/, '\x1b[C')
  await answersAt(terminal, /Submit answers/, '1')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(openOf(session), [])
  t.match(session.state.completedRequests?.[id], {
    status: 'approved',
    answeredBy: 'the terminal',
    answers: { 'Which color?': 'Blue', 'Which animals?': 'Cat, Dog, large' }
  })
  await session.say('and now this')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(texts(session).at(-1), 'you said: and now this', 'nothing queues behind it')

  await session.say('ask one')
  await asked(session)
  await answersAt(terminal, /Which color\?/, '\x1b')
  await session.until(session => openOf(session).length === 0)
  await session.say('and that')
  await session.until(session => texts(session).at(-1) === 'you said: and that')
})

t.test('a plan on its screen is started on the phone with the next mode, or rejected [W11]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t, ['--mode', 'plan'])
  await terminal.sees(/plan mode on/)
  await session.say('plan it')
  const first = await planned(session)
  t.match(first.request, { tool: 'ExitPlanMode', kind: 'plan', content: [{ type: 'text', text: thePlan }] })
  t.match(
    first.request?.choices?.map(({ id, kind }) => [id, kind]),
    [
      ['acceptEdits', 'allow_always'],
      ['default', 'allow_once'],
      ['deny', 'reject_once']
    ]
  )
  await decide(session, first, { approved: false, choice: 'deny', reason: 'the dog first' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session).at(-1), /Keep planning: the dog first/)
  await terminal.sees(/plan mode on/)

  await session.say('plan again')
  const second = await planned(session)
  await decide(session, second, { approved: true, choice: 'acceptEdits' })
  await session.until(session => turnsEnded(session) === 2)
  t.match(texts(session).at(-1), /approved your plan/)
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
  await terminal.sees(/accept edits on/)
})

t.test('a plan started at the terminal closes on the phone [W11]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t, ['--mode', 'plan'])
  await terminal.sees(/plan mode on/)
  await session.say('plan it')
  const { id } = await planned(session)
  await terminal.sees(/Would you like to proceed|Ready to code/)
  await pause(1500)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.state.completedRequests?.[id], { status: 'approved', answeredBy: 'the terminal' })
  t.not(session.metadata.currentOperatingModeCode, 'plan')
})

function openOf({ state }: PhoneSession): string[] {
  return Object.keys(state.requests ?? {})
}

async function asked(session: PhoneSession): Promise<string> {
  await session.until(session => openOf(session).length === 1)
  return openOf(session)[0] ?? ''
}

function questionsOf({ state }: PhoneSession, id: string) {
  return state.requests?.[id]?.form?.questions
}

async function answer(session: PhoneSession, id: string, answers: Record<string, { values: string[]; other?: string }> | undefined) {
  const shown = session.state.requests?.[id]?.shown ?? ''
  await session.call('permission', { id, shown, ...(answers ? { approved: true, answers } : { approved: false }) })
}

async function planned(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id = '', request] = []] = Object.entries(session.state.requests ?? {})
  return { id, request }
}

async function decide(
  session: PhoneSession,
  { id, request }: Awaited<ReturnType<typeof planned>>,
  how: { approved: boolean; choice: string; reason?: string }
) {
  await session.call('permission', { id, shown: request?.shown ?? '', ...how })
}

/** Claude Code takes no key for a moment after its dialog has opened, so that nobody answers it by accident. */
async function answersAt(terminal: PersonAtTerminal, dialog: RegExp, key: string): Promise<void> {
  await terminal.sees(dialog)
  await pause(1500)
  terminal.type(key)
}
