import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lacksPublished } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { read, said } from '../wrapper/kit/claude.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { computerWithRealCodex } from './codex-computer.ts'

// The real Codex, with a model on loopback; CODEX_BIN names another one than test/kit/published.ts fetches.
const how = { skip: lacksPublished('codex'), timeout: 120_000 }
t.setTimeout(600_000)

async function codexAtTerminal(t: Test) {
  const computer = await computerWithRealCodex(t, await startServer(t))
  const terminal = computer.sitDown()
  const session = await computer.phone.session()
  await terminal.sees(ready)
  return { ...computer, terminal, session }
}

const ready = /Ask Codex to do anything/

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  return Object.keys(session.state.requests ?? {})[0] ?? ''
}

t.test("prompts typed at the terminal are on the phone, and the phone's appear on the screen", how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  terminal.type('from the desk')
  await terminal.sees(/› from the desk/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/you said: from the phone/)
  t.strictSame(read(session), [
    'user: from the desk',
    'assistant: you said: from the desk',
    'user: from the phone',
    'assistant: you said: from the phone'
  ])
  t.equal(session.metadata['codexThreadId'], session.metadata.agentSessionId)
  t.equal(session.metadata.currentOperatingModeCode, 'default')
})

t.test('a question is answered on the phone while its dialog is open, and in the dialog while it is on the phone', how, async t => {
  const { terminal, session, directory } = await codexAtTerminal(t)
  await session.say('write one.txt')
  const id = await question(session)
  await terminal.sees(/make the following edits/)
  t.match(session.state.requests?.[id], { tool: 'Write', kind: 'edit', content: [{ type: 'diff', newText: 'from the model\n' }] })
  t.equal(existsSync(join(directory, 'one.txt')), false)
  await session.call('permission', { id, approved: true, choice: 'accept', shown: session.state.requests?.[id]?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  await terminal.sees(/all done/)
  t.equal(readFileSync(join(directory, 'one.txt'), 'utf8'), 'from the model\n')

  // Codex sometimes drops a key that comes as its dialog opens; a person would press it again.
  const press = async (key: string, turns: number) => {
    terminal.type(key)
    const again = setTimeout(() => terminal.type(key), 5_000)
    await session.until(session => turnsEnded(session) === turns)
    clearTimeout(again)
  }
  await session.say('run echo two > two.txt')
  await question(session)
  await terminal.sees(/run the following command/)
  await press('y', 2)
  t.equal(readFileSync(join(directory, 'two.txt'), 'utf8'), 'two\n')

  await session.say('write three.txt')
  await question(session)
  await terminal.sees(/Destination: \S*three.txt/)
  await press('\x1b', 3)
  t.equal(existsSync(join(directory, 'three.txt')), false)
  const answered = Object.values(session.state.completedRequests ?? {})
  t.strictSame(
    answered.map(({ status }) => status),
    ['approved', 'approved', 'denied']
  )
  t.strictSame(
    answered.map(({ answeredBy }) => answeredBy),
    [undefined, 'the terminal', 'the terminal']
  )
  t.equal(Object.keys(session.state.requests ?? {}).length, 0)
})

t.test("the person's reason for saying no on the phone reaches the model in the same turn", how, async t => {
  const { session, directory } = await codexAtTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => texts(session).includes('you said: ask Ann first') && turnsEnded(session) === 1)
  t.equal(existsSync(join(directory, 'one.txt')), false)
})

t.test('a turn is stopped from the phone, and its half answer stays', how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  await session.say('first')
  await session.until(session => turnsEnded(session) === 1)
  await session.say(`slow ${'word '.repeat(60)}`)
  await session.until(({ partials }) => partials.some(({ text }) => text.startsWith('slow')))
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 2)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  t.match(texts(session), ['you said: first', /^slow/])
  await terminal.sees(/interrupted/)
})

t.test('when its screen is closed, the phone keeps the session; any key reopens it, with the full history', how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  terminal.type('before')
  await terminal.sees(/› before/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/quit')
  await terminal.sees(/› \/quit/)
  terminal.type('\r')
  await terminal.sees(/Any key opens Codex here again/)
  await session.say('meanwhile')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type('x')
  await terminal.sees(/you said: meanwhile/)
  await terminal.sees(ready)
  terminal.type('after')
  await terminal.sees(/› after/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['before', 'meanwhile', 'after'])
})

t.test('a wrapper killed mid-turn loses nothing, and sends nothing twice [W1, X1]', how, async t => {
  const computer = await codexAtTerminal(t)
  const { terminal, session } = computer
  terminal.type('first')
  await terminal.sees(/› first/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say(`slow ${'word '.repeat(60)}`)
  await session.until(({ partials }) => partials.length > 0)
  terminal.kill('SIGKILL')
  await terminal.ended
  await session.say('while nobody was there')

  const again = computer.sitDown(['resume', session.id])
  await again.sees(ready)
  await session.until(session => texts(session).includes('you said: while nobody was there'))
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['first', `slow ${'word '.repeat(60)}`, 'while nobody was there'])
  const events = session.events().map(({ t }) => t)
  const count = (of: string) => events.filter(t => t === of).length
  t.equal(count('turn-start'), count('turn-end'), 'every turn that began has one end')
  t.strictSame(
    texts(session).filter(text => !text.startsWith('slow')),
    ['you said: first', 'you said: while nobody was there']
  )
  await again.sees(/you said: while nobody was there/)
})

t.test('existing apps fork a thread, whole or up to a message, and a session continues with the copy', how, async t => {
  const { phone, home, directory, env } = await computerWithRealCodex(t, await startServer(t))
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [directory] }), { mode: 0o600 })
  await runWrapper(t, { home, args: ['daemon', 'run'], env }).says(/ live\n/)
  const machine = await phone.machine()
  await machine.call('spawn-happy-session', { directory, agent: 'codex', prompt: 'plant apples' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  await session.say('and pears')
  await session.until(session => turnsEnded(session) === 2)

  const thread = { directory, codexThreadId: session.metadata.agentSessionId ?? '' }
  const { points } = Object(await machine.call('codex-list-rewind-points', thread))
  t.match(points, [{ text: 'plant apples' }, { text: 'and pears' }])
  t.ok(Math.abs(Date.now() - points[0].timestamp) < 120_000, 'in milliseconds')
  const { newCodexThreadId: whole } = Object(await machine.call('codex-fork-thread', thread))
  const cut = { ...thread, cutAfterItemId: points[0].itemId }
  const { newCodexThreadId: half } = Object(await machine.call('codex-duplicate-thread', cut))
  const known = [session.id]
  for (const [resumeCodexThreadId, past] of [
    [whole, ['plant apples', 'and pears']],
    [half, ['plant apples']]
  ]) {
    await machine.call('spawn-happy-session', { directory, agent: 'codex', resumeCodexThreadId })
    const next = await phone.session(known)
    known.push(next.id)
    await next.until(next => turnsEnded(next) === past.length)
    t.strictSame(said(next), past, 'its past is told')
    await next.say('and roses')
    await next.until(next => turnsEnded(next) === past.length + 1)
    t.strictSame(said(next), [...past, 'and roses'])
    t.match(texts(next).at(-1), 'you said: and roses')
  }
})
