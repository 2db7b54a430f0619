import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { lacksPublished, publishedProgram } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { computerWithRealClaude } from './computer.ts'

// The real Claude Code, driven by the phone, and one of its processes killed; see claude.test.ts for the variables.
const program = publishedProgram('claude')
const how = { skip: lacksPublished('claude'), timeout: 120_000 }

async function claudeWithPhone(t: Test) {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown(['claude', '--yes', '--remote'])
  const session = await phone.session()
  const claude = () => pidBelow(terminal.pid, isConversation)
  const adapter = () => pidBelow(terminal.pid, command => command.includes('claude-agent-acp'))
  return { terminal, session, claude, adapter }
}

t.test('killed between two turns, it is restarted for the next message; the first is not sent twice', how, async t => {
  const { session, claude } = await claudeWithPhone(t)
  await session.say('one')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('two', 'acceptEdits')
  await session.until(session => turnsEnded(session) === 2)
  const first = claude()
  process.kill(first, 'SIGKILL')
  await session.say('three')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['you said: one', 'you said: two', 'you said: three'])
  t.not(claude(), first)
  t.equal(session.metadata.currentOperatingModeCode, 'acceptEdits', 'in the mode that was picked')
  t.match(notes(session), [/was restarted/])
  t.equal(session.metadata.lifecycleState, 'running')
})

t.test('killed mid-sentence, the sentence is marked as cut off, and the next message continues', how, async t => {
  const { session, claude } = await claudeWithPhone(t)
  await session.say('half')
  await session.until(({ partials }) => partials.length > 0)
  process.kill(claude(), 'SIGKILL')
  await session.until(session => turnsEnded(session) === 1)
  t.match(
    session.events().findLast(event => event.t === 'turn-end'),
    { status: 'failed' }
  )
  t.match(
    session.events().find(event => event.t === 'text'),
    { cut: true }
  )
  t.match(notes(session).at(-1), /exited unexpectedly during this turn/)
  await session.say('two')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(texts(session).at(-1), 'you said: two')
})

t.test('killed at its own terminal, the terminal says how to continue', how, async t => {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown()
  const session = await phone.session()
  await session.say('one')
  await session.until(session => turnsEnded(session) === 1)
  process.kill(pidBelow(terminal.pid, isConversation), 'SIGKILL')
  t.equal(await terminal.ended, 1)
  await terminal.sees(/The agent exited unexpectedly \(killed by SIGKILL\)/)
  await terminal.sees(/Resume it with:\s+.*resume /)
})

t.test('killed at its own terminal mid-answer, nothing shown on the phone is lost', how, async t => {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown()
  const session = await phone.session()
  await session.say('slow 2 200 line')
  await session.until(({ partials }) => partials.some(({ text }) => text.includes('line 1.3')))
  process.kill(pidBelow(terminal.pid, isConversation), 'SIGKILL')
  t.equal(await terminal.ended, 1)
  await session.until(session => turnsEnded(session) === 1)
  const [cut] = session.events().flatMap(event => (event.t === 'text' ? event : []))
  t.equal(cut?.cut, true)
  t.ok(cut?.text.startsWith(session.partials.findLast(({ text }) => text !== '')?.text.trim() ?? 'nothing'))
  t.match(
    session.events().findLast(event => event.t === 'turn-end'),
    { status: 'failed' }
  )
})

t.test('when its adapter is killed, Claude Code and the session end with it', how, async t => {
  const { session, claude, adapter, terminal } = await claudeWithPhone(t)
  await session.say('one')
  await session.until(session => turnsEnded(session) === 1)
  const before = claude()
  process.kill(adapter(), 'SIGKILL')
  await session.until(({ metadata }) => metadata.agentEnd !== undefined)
  t.match(session.metadata.agentEnd, { signal: 'SIGKILL' })
  t.equal(await terminal.ended, 1)
  t.notOk(isRunning(before))
  t.match(terminal.screen, /Resume it with:\s+.*resume /)
})

function notes({ events }: PhoneSession): string[] {
  return events().flatMap(event => (event.t === 'service' ? event.text : []))
}

function isRunning(pid: number): boolean {
  try {
    // Of one that has ended and that nobody asked how, it is empty.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

/** Not `claude auth status`, which the adapter runs for a moment at each message. */
function isConversation(command: string): boolean {
  return command.startsWith(program) && !command.startsWith(`${program} auth`)
}

function pidBelow(terminal: number, isIt: (command: string) => boolean): number {
  const found = below(terminal).find(({ command }) => isIt(command))
  // A signal for process 0 would end the test and all beside it.
  if (!found) throw new Error('There is no such process')
  return found.pid
}

/** All that a process started, and what that started. */
function below(pid: number): { pid: number; command: string }[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap(
    task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').match(/\d+/g) ?? []
  )
  return children.map(Number).flatMap(child => {
    const command = readFileSync(`/proc/${child}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return [{ pid: child, command }, ...below(child)]
  })
}
