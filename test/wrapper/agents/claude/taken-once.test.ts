import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { claudeAtTerminal, said } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'

// Whether Claude Code has a message is decided by what it writes down, and not by how long it took.
const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('a long message, which Claude Code marks as pasted, is recognized and stays at the terminal', how, async t => {
  const { session } = await claudeAtTerminal(t)
  const long = 'A long message. '.repeat(200).trim()
  await session.say(long)
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), [long])
  t.equal(session.state.controlledByUser, true)
})

t.test('text pasted at the terminal is on the phone without the marks', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  const long = 'A long message. '.repeat(200).trim()
  terminal.type(`\x1b[200~${long}\x1b[201~`)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), [long])
})

t.test('a message that Claude Code accepts after the timeout has its turn, and is not sent again', how, async t => {
  const { terminal, session, home } = await claudeAtTerminal(t, { env: { FAKE_TAKES_MS: '7000' } })
  const adapter = join(home, 'agents', 'node_modules', '@agentclientprotocol', 'claude-agent-acp', 'index.mjs')
  writeFileSync(adapter, 'process.exit(1)\n')
  terminal.type('/menu\r')
  await terminal.sees(/Choose/)
  await session.say('late but here')
  await session.until(session => turnsEnded(session) === 1)
  t.match(
    session.events().findLast(({ t }) => t === 'turn-end'),
    { status: 'failed' }
  )
  await session.until(session => turnsEnded(session) === 2)
  t.match(
    session.events().findLast(({ t }) => t === 'turn-end'),
    { status: 'completed' }
  )
  await session.say('the next')
  await session.until(session => texts(session).includes('you said: the next'))
  t.strictSame(texts(session), ['you said: late but here', 'you said: the next'])
})

t.test('a message accepted into a running turn is not sent again by the next run', how, async t => {
  // Its rows come late: the session does not know of the turn yet, and hands the message over.
  const { terminal, session, sitDown } = await claudeAtTerminal(t, { env: { FAKE_LAG_MS: '1500' } })
  terminal.type('many 300 word\r')
  await terminal.sees(/● word 1$/m)
  await session.say('and from the phone')
  await session.until(session => turnsEnded(session) >= 1)
  await session.until(session => texts(session).includes('word 300'))
  terminal.kill('SIGTERM')
  t.equal(await terminal.ended, 0)
  const again = sitDown(['resume', session.id])
  await again.sees(/❯/)
  await session.until(({ state }) => state.controlledByUser === true)
  await session.say('once more')
  await session.until(session => texts(session).includes('you said: once more'))
  t.strictSame(said(session), ['and from the phone', 'many 300 word', 'once more'])
  t.notOk(texts(session).includes('you said: and from the phone'))
})
