import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import type { AgentKind } from '../../../lib/wrapper/agents/agent.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { findLeftovers, listSessions, reopen } from '../../../lib/wrapper/home/session-folder.ts'
import { noteEndedByPerson } from '../../../lib/wrapper/home/session-notes.ts'
import { runAgent } from '../../../lib/wrapper/run/run.ts'
import type { Terminal } from '../../../lib/wrapper/terminal/terminal.ts'
import { computerWithSession, leaveBehind } from '../kit/left-behind.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a session whose agent does not start keeps its pending messages, and they are delivered once [W1]', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'still here')

  await t.rejects(resume(home), CannotStart)
  t.match(listSessions(home), [{ pid: undefined, notes: { isStarting: undefined, turn: 'left open' } }])
  const flush = runWrapper(t, { home, args: ['flush'] })
  t.equal(await flush.ended, 0, flush.output)
  const session = await phone.session()
  await session.until(({ messages }) => messages.length > 0)
  t.match(session.messages[0], { content: { text: 'still here' } })
  t.equal(session.messages.filter(({ role }) => role === 'user').length, 1)
})

t.test('an ended session whose agent does not start stays ended as before, including by whom', async t => {
  const { home, folder } = await computerWithSession(t)
  folder.note({ turn: null, endedBy: 'person', heardUpTo: 7 })
  folder.retire()
  await t.rejects(resume(home), CannotStart)
  t.match(listSessions(home), [{ pid: undefined, notes: { endedBy: 'person', heardUpTo: 7 } }])
  t.strictSame(findLeftovers(home), [], 'there is nothing to deliver')

  const second = reopen(only(home))
  second?.note({ isStarting: false })
  second?.retire()
  noteEndedByPerson(only(home))
  await t.rejects(resume(home), CannotStart)
  t.match(listSessions(home), [{ pid: undefined, notes: { endedBy: 'person' } }])
})

t.test('a session whose conversation is open in Claude Code itself is not resumed alongside it', async t => {
  const { home, folder } = await computerWithSession(t)
  const conversation = 'd2d5dbf8-1f0c-4b61-b2b5-0b7a0c1b6d41'
  folder.note({ turn: null, metadata: { ...folder.notes.metadata, flavor: 'claude', agentSessionId: conversation } })
  folder.retire()
  const config = join(home, '..', 'claude')
  mkdirSync(join(config, 'sessions'), { recursive: true })
  const file = join(config, 'sessions', `${process.pid}.json`)
  writeFileSync(file, JSON.stringify({ pid: process.pid, sessionId: conversation }))
  await t.rejects(resume(home, { CLAUDE_CONFIG_DIR: config }), { message: /open in Claude Code right now, as process \d+\. Close it/ })
  t.match(listSessions(home), [{ pid: undefined, notes: { isStarting: undefined } }])

  const longAgo = new Date(Date.now() - 24 * 3_600_000)
  utimesSync(file, longAgo, longAgo)
  await t.rejects(resume(home, { CLAUDE_CONFIG_DIR: config }), { message: /not signed in/ }, 'another program has its number now')
})

function only(home: string) {
  const [known] = listSessions(home)
  if (!known) throw new Error('there is no session')
  return known
}

function resume(home: string, env = {}): Promise<number> {
  const earlier = reopen(only(home))
  return runAgent({ home: openHome({ AFIELD_HOME: home }), server: undefined, env, terminal, kind, directory: home, earlier })
}

const kind: AgentKind = {
  flavor: 'demo',
  title: 'Demo agent',
  program: { kind: 'demo' },
  start: async () => {
    throw new CannotStart('It is not signed in.')
  }
}

const terminal: Terminal = { isTTY: false, columns: 80, rows: 24, write() {}, onResize: () => () => {}, ask: async () => undefined }
