import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { riskOf } from '../../../../lib/protocol/sealed/decisions/risk.ts'
import { riskSubjectOf } from '../../../../lib/protocol/sealed/decisions/subject.ts'
import { startAcp } from '../../../../lib/wrapper/agents/acp/acp.ts'
import type { StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { programFile } from '../../../kit/program.ts'
import { choice, listenTo, testAgent } from '../contract.ts'

const start = (how: StartAgent) => {
  const args = [programFile(), 'demo-agent', join(how.directory, '.conversations')]
  return startAcp({ command: process.execPath, args, title: 'Demo agent' }, how)
}

testAgent(t, {
  start,
  write: (path, content, end) => `SCRIPT: think hm; tool write ${JSON.stringify({ path, content })} ;; text ${end}`,
  slow: (ms, words) => `SCRIPT: slow ${ms} ${words}`,
  has: {
    choices: { model: 'quick', effort: 'low' },
    form: {
      prompt: 'Please ask me',
      id: 'color',
      other: 'days',
      said: (value, text) => new RegExp(`color: ${value}\\n- days: ${text}`),
      notSaid: /You did not answer/
    },
    link: url => `SCRIPT: ask ${url}`,
    image: { prompt: 'SCRIPT: look', said: /image\/png, 1 × 1/ },
    steering: false
  }
})

t.test('its commands say what they do', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const { commands } = await listenTo(agent).until('commands')
  t.match(commands, [{ name: 'plan', description: /plan/ }, { name: 'ask' }, { name: 'risky' }])
})

t.test('the fast model has no level that only the careful one has', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await talk.until('options')
  t.equal(await agent.setEffort?.('high'), true)
  await agent.setModel?.('quick')
  const { efforts } = await talk.until('options', ({ models }) => models?.current === 'quick')
  t.strictSame(efforts?.current, 'medium')
  t.equal(await agent.setEffort?.('high'), false)
})

t.test('an invalid number is reported, and the form stays open', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('ask me')
  const { asked } = await talk.until('question-asked')
  const answering = (days: string) => () => agent.answerQuestion?.(asked.ask, { days: { values: [], other: days } })
  t.throws(answering('soon'), /needs a whole number/)
  t.throws(answering('31'), /at most 30/)
  t.equal(answering('3')(), true)
  await talk.until('turn-ended')
})

t.test('a custom color replaces the offered ones, and several tools are listed together', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('ask me')
  const { asked } = await talk.until('question-asked')
  t.match(asked, {
    questions: [
      {
        id: 'color',
        header: 'Color',
        multiSelect: false,
        allowsOther: true,
        isRequired: false,
        options: [{ value: 'green', label: 'Green' }, {}, {}]
      },
      { id: 'tools', multiSelect: true, allowsOther: false },
      { id: 'days', options: [], allowsOther: true, isRequired: true },
      { id: 'note', options: [], isRequired: false }
    ]
  })
  agent.answerQuestion?.(asked.ask, {
    color: { values: [], other: ' blue ' },
    tools: { values: ['oil', 'rope'] },
    days: { values: [], other: '2' }
  })
  const { text } = await talk.until('text', ({ thinking }) => !thinking)
  t.match(text, /color_custom: blue\n- tools: oil, rope\n- days: 2/)
})

for (const [wish, word] of [
  ['bypassPermissions', 'Full auto'],
  ['yolo', 'Full auto'],
  ['safe-yolo', undefined],
  ['plan', undefined]
] as const) {
  t.test(`asked to start in ${wish} it ${word ? `says that it has no ${word}` : 'says nothing, for it has that'}`, async t => {
    const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' }, mode: wish })
    t.teardown(() => agent.stop())
    const talk = listenTo(agent)
    await talk.until('options')
    const notices = talk.heard.flatMap(event => (event.type === 'notice' ? [event.text] : []))
    t.strictSame(notices, word ? [`Demo agent has no mode “${word}”; it asks first.`] : [])
  })
}

t.test('after “write slowly” it writes until someone stops it', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('Write slowly')
  await talk.until('text-grew')
  await agent.cancel()
  await talk.until('turn-ended')
  const written = talk.heard.flatMap(event => (event.type === 'text' ? [event.text] : [])).join('')
  t.match(written, /^I\b/)
  t.notMatch(written, /any word/)
})

for (const isAllowed of [true, false]) {
  t.test(`after “risky” it asks for a file, and for a command that counts as risky, and ${isAllowed ? 'does' : 'leaves'} it`, async t => {
    const directory = t.testdir()
    const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '' } })
    t.teardown(() => agent.stop())
    const talk = listenTo(agent)
    await agent.prompt('Risky')
    const { asked: making } = await talk.until('permission-asked')
    t.match(making.step, { kind: 'edit', title: 'Write demo-scratch.txt' })
    t.equal(existsSync(join(directory, 'demo-scratch.txt')), false, 'it asks first')
    agent.answer(making.ask, choice(making, 'allow_once'))
    const { asked } = await talk.until('permission-asked', ({ asked }) => asked.ask !== making.ask)
    const { name: tool, input: args, ...step } = asked.step
    t.match(riskOf(riskSubjectOf({ tool, args, ...step }, { folder: directory })), { level: 'risky', reasons: ['deletes'] })
    const scratch = join(directory, 'demo-scratch.txt')
    t.equal(existsSync(scratch), true)
    agent.answer(asked.ask, choice(asked, isAllowed ? 'allow_once' : 'reject_once'))
    await talk.until('turn-ended')
    t.equal(existsSync(scratch), !isAllowed)
  })
}

t.test('in a mode that asks first nothing is written and nothing runs before a yes, even without its notes', async t => {
  const directory = t.testdir()
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.setModel?.('quick')
  for (const prompt of ['Mend the gate', 'risky']) {
    await agent.prompt(prompt)
    const { asked } = await talk.until('permission-asked', ({ asked }) => asked.step.title !== 'Write notes.md' || prompt !== 'risky')
    t.strictSame(
      readdirSync(directory).filter(name => name !== '.conversations'),
      [],
      prompt
    )
    agent.answer(asked.ask, choice(asked, 'reject_once'))
    await talk.until('turn-ended')
  }
  t.notOk(talk.heard.some(event => event.type === 'step-started' && event.step.kind === 'execute'))
})

t.test('after “risky” it does not touch a file that it did not create', async t => {
  const directory = t.testdir({ 'demo-scratch.txt': 'mine' })
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('risky')
  t.match(await talk.until('text'), { text: /did not create/ })
  await talk.until('turn-ended')
  t.equal(readFileSync(join(directory, 'demo-scratch.txt'), 'utf8'), 'mine')
})

t.test('its first and last messages explain how to see a risky decision', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.setModel?.('quick')
  await agent.prompt('Mend the gate')
  t.match(await talk.until('text', ({ thinking }) => !thinking), { text: /Write \*risky\*/ })
  const { asked } = await talk.until('permission-asked')
  agent.answer(asked.ask, choice(asked, 'allow_once'))
  const { text } = await talk.until('text', ({ text }) => text.startsWith('Done'))
  t.match(text, /Write \*risky\*/)
  t.match(text, /\*Edit freely\*/)
})

t.test('asked for a plan it makes one, and executes it step by step', async t => {
  const agent = await start({ directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.setModel?.('quick')
  await agent.prompt('Make a plan')
  await talk.until('turn-ended')
  const plans = talk.heard.flatMap(event => (event.type === 'plan' ? [event.entries.map(({ status }) => status)] : []))
  t.strictSame(plans.at(0), ['in_progress', 'pending', 'pending'])
  t.strictSame(plans.at(-1), ['completed', 'completed', 'completed'])
})

t.test('without a script it plays its demo: it thinks, plans, reads, asks, writes, reads again and sums up', async t => {
  const directory = t.testdir({ 'notes.md': '# Notes\n' })
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('Mend the gate')
  const { asked } = await talk.until('permission-asked')
  agent.answer(asked.ask, choice(asked, 'allow_once'))
  await talk.until('turn-ended')
  t.match(readFileSync(join(directory, 'notes.md'), 'utf8'), /- Mend the gate\n$/)
  const kinds = talk.heard.flatMap(event => (event.type === 'step-ended' ? `${event.step.kind} ${event.status}` : []))
  t.strictSame(kinds, ['read completed', 'edit completed', 'read completed'])
  const last = talk.heard.findLast(event => event.type === 'plan')
  t.ok(last?.type === 'plan' && last.entries.every(({ status }) => status === 'completed'))
})
