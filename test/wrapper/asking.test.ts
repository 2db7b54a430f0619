import t from 'tap'
import { demo, texts, turnsEnded } from './kit/demo.ts'
import type { PhoneSession } from './kit/phone.ts'

async function asked(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.communications ?? {}).length === 1)
  const [[id = '', question] = []] = Object.entries(session.state.communications ?? {})
  return { id, question }
}

t.test('a question of the agent is answered from the phone, for exactly what was shown, and once', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id, question } = await asked(session)
  t.match(question, { kind: 'form', title: /mend the gate/, shown: /^[\w-]{43}$/ })
  const answers = { colour: { values: ['red'] }, days: { values: [], other: '4' } }
  const answer = { id, kind: 'form', status: 'answered' as const, answers }
  await t.rejects(session.call('communication', { ...answer, shown: 'something else' }), /changed/)
  await t.rejects(session.call('communication', { ...answer, answers: { colour: { values: ['red'] } } }), /needs an answer/)
  await t.rejects(session.call('communication', { ...answer, answers: { ...answers, colour: { values: ['gold'] } } }), /no such answer/)
  await t.rejects(
    session.call('communication', { ...answer, answers: { ...answers, days: { values: [], other: 'soon' } } }),
    /whole number/
  )
  t.equal(Object.keys(session.state.communications ?? {}).length, 1, 'and it still waits')
  await session.call('communication', { ...answer, shown: question?.shown, answeredBy: 'a test' })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- colour: red\n- days: 4'])
  await session.until(({ state }) => state.completedCommunications?.[id] !== undefined)
  t.match(session.state.completedCommunications?.[id], {
    status: 'answered',
    answeredBy: 'a test',
    answers: { colour: { values: ['red'], options: ['Red'] }, days: { other: '4', custom: '4' } }
  })
  t.strictSame(session.state.communications, {})
  await t.rejects(session.call('communication', answer), /This question is over\./)
})

t.test('an existing app answers by the labels of the options', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id } = await asked(session)
  const answers = { tools: { options: ['Oil', 'Rope'] }, days: { options: [], custom: '2' } }
  await session.call('communication', { id, kind: 'form', status: 'answered', answers })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- tools: oil, rope\n- days: 2'])
})

t.test('who would rather not say lets the agent go on, and a question whose turn is stopped is over', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id } = await asked(session)
  await session.call('communication', { id, kind: 'form', status: 'cancelled' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/rather not say/])
  await session.say('SCRIPT: ask https://example.org/')
  const link = await asked(session)
  t.match(link.question, { kind: 'link', url: 'https://example.org/' })
  await session.call('abort', {})
  await session.until(({ state }) => state.completedCommunications?.[link.id]?.status === 'cancelled')
  await t.rejects(session.call('communication', { id: link.id, kind: 'link', status: 'answered' }), /over/)
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
  for (const method of ['permission', 'communication', 'setModel', 'setEffort', 'setMode', 'abort'])
    t.ok(session.metadata.methods?.includes(method), method)
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
