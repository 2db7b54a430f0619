import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lacksPublished, publishedProgram } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { read } from '../wrapper/kit/claude.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { noneRuns, running } from '../wrapper/kit/running.ts'
import { computerWithRealOpencode } from './opencode-computer.ts'

// The real opencode, with a model on loopback. OPENCODE_BIN names another one than test/kit/published.ts fetches.
const program = publishedProgram('opencode')
const how = { skip: lacksPublished('opencode'), timeout: 600_000 }
t.setTimeout(900_000)

async function atTerminal(t: Test) {
  const computer = await computerWithRealOpencode(t, await startServer(t))
  const terminal = computer.sitDown()
  const session = await computer.phone.session()
  await terminal.sees(isReady)
  return { ...computer, terminal, session }
}

const isReady = /Build · Fake M/

/** What opencode itself has under the id that the phone knows. */
function conversationOf(session: PhoneSession): string {
  return session.metadata.agentSessionId ?? ''
}

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  return id
}

t.test("prompts typed at its screen are on the phone, and the phone's are on its screen", how, async t => {
  const { terminal, session, written } = await atTerminal(t)
  terminal.type('from the desk\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/you said: from the phone/)
  const said = ['user: from the desk', 'assistant: you said: from the desk', 'user: from the phone', 'assistant: you said: from the phone']
  t.strictSame(read(session), said)
  await session.until(({ metadata }) => metadata.summary?.text === 'A title')
  terminal.type('plan it\r')
  await session.until(session => turnsEnded(session) === 3)
  t.ok(session.events().some(event => event.t === 'tool-call-start' && /first/.test(JSON.stringify(event.args['todos']))))
  terminal.kill('SIGTERM')
  t.equal(await terminal.ended, 0, terminal.screen)
  t.strictSame(written(conversationOf(session)), [...said, 'user: plan it', 'assistant: all done'])
})

t.test('a question is answered on the phone while its dialog is open, and the other way round', how, async t => {
  const { terminal, session, directory } = await atTerminal(t)
  await session.say('write one.txt')
  const first = await question(session)
  await terminal.sees(/Permission required[\s\S]*Edit one.txt/)
  t.match(session.state.requests?.[first], {
    tool: 'Write',
    kind: 'edit',
    content: [{ type: 'diff', oldText: null, newText: 'from the model\n' }]
  })
  await session.call('permission', { id: first, approved: true, choice: 'once', shown: session.state.requests?.[first]?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  t.equal(readFileSync(join(directory, 'one.txt'), 'utf8'), 'from the model\n')

  terminal.type('write two.txt\r')
  await question(session)
  await terminal.sees(/Permission required[\s\S]*Edit two.txt/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(readFileSync(join(directory, 'two.txt'), 'utf8'), 'from the model\n')
  const answered = Object.values(session.state.completedRequests ?? {}).map(({ status, answeredBy }) => ({ status, answeredBy }))
  t.match(answered, [{ status: 'approved' }, { status: 'approved', answeredBy: 'the terminal' }])
  t.strictSame(texts(session), ['a file, then', 'I will write one.txt.', 'all done', 'a file, then', 'I will write two.txt.', 'all done'])
})

t.test("the person's reason for saying no on the phone reaches the model, which continues", how, async t => {
  const { session, directory } = await atTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 1)
  const end = session.events().find(event => event.t === 'tool-call-end')
  t.match(end, { status: 'denied' })
  t.match(JSON.stringify(end), /ask Ann first/)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'completed' })
  t.equal(texts(session).at(-1), 'all done')
  t.equal(existsSync(join(directory, 'one.txt')), false)
})

t.test('a turn is stopped from the phone, and the text so far stays', how, async t => {
  const { terminal, session, written } = await atTerminal(t)
  terminal.type('slowly\r')
  await session.until(({ partials }) => partials.some(({ text }) => /one one one/.test(text)))
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  terminal.kill('SIGTERM')
  await terminal.ended
  // It is told, and marked as broken off.
  const half = session.events().flatMap(event => (event.t === 'text' && event.cut ? `assistant: ${event.text}` : []))
  t.equal(half.length, 1)
  t.strictSame([...read(session), ...half], written(conversationOf(session)))
})

t.test('a server killed mid-text: the received text is marked as cut off, and nothing else is lost or duplicated', how, async t => {
  const { terminal, session, sitDown, written, directory } = await atTerminal(t)
  await session.say('first')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('slowly')
  await session.until(({ partials }) => partials.some(({ text }) => /one one one/.test(text)))
  for (const { pid, args } of running(program, join(directory, '..'))) if (args.includes('serve')) process.kill(pid, 'SIGKILL')
  await terminal.ended
  await noneRuns(program, join(directory, '..'))
  const again = sitDown(['resume', session.id])
  await again.sees(isReady)
  await session.say('and on')
  await session.until(session => texts(session).includes('you said: and on') && turnsEnded(session) === 3)
  again.kill('SIGTERM')
  t.equal(await again.ended, 0, again.screen)
  t.strictSame(read(session), written(conversationOf(session)))
  const halves = session.events().flatMap(event => (event.t === 'text' && event.cut ? event.text : []))
  t.equal(halves.length, 1)
  t.match(halves[0], /^one one one/)
  t.equal(session.events().filter(({ t }) => t === 'turn-start').length, 3)
})

for (const victim of ['wrapper', 'server', 'screen'] as const) {
  t.test(`when its ${victim} is killed mid-turn, the phone ends up with what opencode has, and nothing is left running`, how, async t => {
    const { terminal, session, sitDown, written, directory } = await atTerminal(t)
    await session.say('write one.txt')
    await question(session)
    const ours = running(program, join(directory, '..'))
    if (victim === 'wrapper') terminal.kill('SIGKILL')
    else
      for (const pid of ours.filter(({ args }) => args.includes(victim === 'server' ? 'serve' : 'attach')).map(({ pid }) => pid))
        process.kill(pid, 'SIGKILL')

    if (victim === 'screen') {
      await terminal.sees(/Any key opens opencode here again/)
      await session.call('permission', { id: await question(session), approved: true })
      await session.until(session => turnsEnded(session) === 1)
      terminal.type(' ')
      await terminal.sees(/all done/)
    } else {
      await terminal.ended
      await noneRuns(program, join(directory, '..'))
      const again = sitDown(['resume', session.id])
      await again.sees(isReady)
      again.type('second\r')
      await session.until(session => texts(session).includes('you said: second'))
      again.kill('SIGTERM')
      t.equal(await again.ended, 0, again.screen)
    }
    terminal.kill('SIGTERM')
    await terminal.ended
    await noneRuns(program, join(directory, '..'))
    // Thoughts are no answers.
    t.strictSame(
      read(session).filter(line => line !== 'assistant: a file, then'),
      written(conversationOf(session))
    )
    const events = session.events().map(({ t }) => t)
    const count = (of: string) => events.filter(t => t === of).length
    t.equal(count('turn-start'), count('turn-end'), 'every turn that began has one end')
    t.equal(count('tool-call-start'), count('tool-call-end'))
  })
}
