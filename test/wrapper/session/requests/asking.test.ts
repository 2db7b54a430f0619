import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { demo, texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'

async function asked(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id = '', question] = []] = Object.entries(session.state.requests ?? {})
  return { id, question }
}

t.test('a question of the agent is answered from the phone, for exactly what was shown, and once', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id, question } = await asked(session)
  t.match(question, { tool: 'AskUserQuestion', title: /mend the gate/, shown: /^[\w-]{43}$/ })
  const answers = { colour: { values: ['red'] }, days: { values: [], other: '4' } }
  const answer = { id, approved: true, answers }
  await t.rejects(session.call('permission', { ...answer, shown: 'something else' }), /changed/)
  await t.rejects(session.call('permission', { ...answer, answers: { colour: { values: ['red'] } } }), /needs an answer/)
  await t.rejects(session.call('permission', { ...answer, answers: { ...answers, colour: { values: ['gold'] } } }), /no such answer/)
  await t.rejects(session.call('permission', { ...answer, answers: { ...answers, days: { values: [], other: 'soon' } } }), /whole number/)
  t.equal(Object.keys(session.state.requests ?? {}).length, 1, 'and it still waits')
  await session.call('permission', { ...answer, shown: question?.shown, answeredBy: 'a test' })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- colour: red\n- days: 4'])
  await session.until(({ state }) => state.completedRequests?.[id] !== undefined)
  t.match(session.state.completedRequests?.[id], { status: 'approved', answeredBy: 'a test' })
  t.strictSame(Object.values(session.state.completedRequests?.[id]?.answers ?? {}), ['Red', '4'])
  t.strictSame(session.state.requests, {})
  await t.rejects(session.call('permission', { ...answer, shown: question?.shown }), /This question is over\./)
  await session.call('permission', { id, approved: true, updatedInput: { answers: {} } })
})

t.test('an existing app answers by the texts of the questions and the labels of the options', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id, question } = await asked(session)
  const text = new Map(question?.form?.questions.map(({ id, question }) => [id, question]))
  const answers = { [text.get('tools') ?? '']: 'Oil, Rope', [text.get('days') ?? '']: '2' }
  await session.call('permission', { id, approved: true, decision: 'approved', updatedInput: { answers } })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- tools: oil, rope\n- days: 2'])
})

t.test('who would rather not say lets the agent go on, and a question whose turn is stopped is over', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id } = await asked(session)
  await session.call('permission', { id, approved: false, decision: 'denied' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/rather not say/])
  await session.say('SCRIPT: ask https://example.org/')
  const link = await asked(session)
  t.match(link.question, { tool: 'AskUserQuestion', url: 'https://example.org/' })
  await session.call('abort', {})
  await session.until(({ state }) => state.completedRequests?.[link.id]?.status === 'canceled')
  await t.rejects(session.call('permission', { id: link.id, approved: true, answers: {}, shown: link.question?.shown }), /over/)
})

t.test('models and levels of thought change by call and with a message, and null brings back what was first', async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.models !== undefined)
  t.match(session.metadata, {
    models: [{ code: 'quick', value: 'Quick' }, { code: 'careful' }],
    currentModelCode: 'careful',
    thoughtLevels: [{ code: 'low' }, { code: 'medium' }, { code: 'high' }],
    currentThoughtLevelCode: 'medium'
  })
  for (const method of ['permission', 'setModel', 'setEffort', 'setMode', 'abort']) t.ok(session.metadata.methods?.includes(method), method)
  await t.rejects(session.call('setModel', { model: 'nonsense' }), /no such model/)
  t.match(await session.call('setModel', { model: 'quick' }), { model: 'quick' })
  await session.until(({ metadata }) => metadata.currentModelCode === 'quick' && metadata.thoughtLevels?.length === 2)
  await session.say('SCRIPT: text one', { model: null, effort: 'high' })
  await session.until(session => turnsEnded(session) === 1)
  await session.until(({ metadata }) => metadata.currentModelCode === 'careful' && metadata.currentThoughtLevelCode === 'high')
  await session.say('SCRIPT: text two')
  await session.until(session => turnsEnded(session) === 2)
  t.match(session.metadata, { currentModelCode: 'careful', currentThoughtLevelCode: 'high' }, 'a message that wishes nothing keeps both')
  await session.say('SCRIPT: text three', { model: 'nonsense', effort: null })
  await session.until(session => turnsEnded(session) === 3)
  await session.until(({ metadata }) => metadata.currentThoughtLevelCode === 'medium')
  t.ok(session.events().some(event => event.t === 'service' && /no model nonsense/.test(event.text)))
})

t.test('a change too large for the agent state is asked for shortened, and its yes applies all of it [W12]', async t => {
  const { session, home } = await demo(t)
  const content = 'apple '.repeat(700_000)
  await session.say(`SCRIPT: tool write ${JSON.stringify({ path: 'large.txt', content })}`)
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id, request] = ['']] = Object.entries(session.state.requests ?? {})
  t.match(request, { risk: { level: 'risky', reasons: ['shortened'] }, arguments: { content: /the rest is on the machine/ } })
  const always = request?.choices?.find(({ kind }) => kind === 'allow_always')
  await t.rejects(session.call('permission', { id, approved: true, choice: always?.id, shown: request?.shown }), /once only/)
  await session.call('permission', { id, approved: true, shown: request?.shown })
  await session.until(session => turnsEnded(session) === 1)
  t.ok(readFileSync(join(home, 'demo', 'large.txt'), 'utf8') === content)
})

t.test('what waits for a person but cannot reach the devices is told in the session and at the terminal [W12]', async t => {
  const { session, wrapper } = await demo(t)
  await session.say(`SCRIPT: ask https://example.org/?${'a'.repeat(4_500_000)}`)
  await session.until(({ events }) => events().some(event => event.t === 'service' && /may not show what waits/.test(event.text)))
  t.same(session.state.requests ?? {}, {})
  await wrapper.says(/Trouble:? .*“Please open this page\.”.*Stop the turn to go on/)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: tool exec {"command": "true"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
})
