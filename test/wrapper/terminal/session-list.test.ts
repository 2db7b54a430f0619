import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { KnownSession } from '../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import {
  ago,
  describeSessions,
  drawHistories,
  drawNumbered,
  drawSessions,
  findSessions,
  numbered
} from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor, widthOf } from '../../../lib/wrapper/terminal/style.ts'

const style = styleFor({ isTTY: false }, {})
const entry = { title: 'Mend the gate', agent: 'Demo agent', folder: '/srv/orchard/gates/north', state: 'ended yesterday' }

t.test('the end time of a session is never cut off, however narrow the screen', t => {
  for (const columns of [30, 40, 50, 80]) {
    const lines = drawNumbered([entry], style, columns)
    t.match(lines.join('\n'), /ended yesterday$/, String(columns))
    t.match(lines.join('\n'), /north/)
    for (const line of lines) t.ok(widthOf(line) < columns, line)
  }
  t.strictSame(drawNumbered([entry], style, 80), ['  1  Mend the gate', '     Demo agent in /srv/orchard/gates/north, ended yesterday'])
  t.strictSame(drawNumbered([entry], style, 40).slice(1), ['     Demo agent in …orchard/gates/north', '     ended yesterday'])
  t.end()
})

const minute = 60_000
const now = Date.parse('2026-05-01T12:00:00Z')

function session(metadata: Partial<SessionNotes['metadata']>, rest: Partial<SessionNotes & KnownSession> = {}): KnownSession {
  const { pid, at = now, ...notes } = rest
  return {
    path: '/srv/home/sessions/x',
    pid,
    deliverer: undefined,
    at,
    notes: {
      tag: 'x',
      server: 'http://x',
      key: null,
      cursor: 0,
      turn: null,
      ...notes,
      metadata: { path: '/srv/orchard', host: 'here', ...metadata }
    }
  }
}

t.test('how long ago something was is said in the largest whole unit', t => {
  for (const [ms, says] of [
    [0, 'just now'],
    [minute - 1, 'just now'],
    [minute, '1 min ago'],
    [60 * minute - 1, '59 min ago'],
    [60 * minute, '1 h ago'],
    [24 * 60 * minute - 1, '23 h ago'],
    [24 * 60 * minute, 'yesterday'],
    [48 * 60 * minute - 1, 'yesterday'],
    [48 * 60 * minute, '2 days ago']
  ] as const)
    t.equal(ago(ms), says, String(ms))
  t.end()
})

t.test('a session is listed by its number, with its title, agent, folder, state and, where wanted, its id', t => {
  const known = numbered([
    session({ name: 'Pears', agentTitle: 'Demo agent', path: homedir() }, { pid: 7, id: 's1' }),
    session({ path: join(homedir(), 'plums') }, { at: now - 5 * minute })
  ])
  const lines = ['  1  Pears', '     Demo agent in ~, running now', '  2  No messages yet', '     An agent in ~/plums, ended 5 min ago']
  t.strictSame(drawSessions(known, now, style, 80), lines)
  t.strictSame(drawSessions(known, now, style, 80, { ids: true }), [
    ...lines.slice(0, 2),
    '     s1',
    ...lines.slice(2),
    '     not on the server yet'
  ])
  t.strictSame(drawSessions(known.slice(1), now, style, 80), lines.slice(2), 'its number stays when others are left out')
  t.strictSame(describeSessions(known), [
    { number: 1, id: 's1', title: 'Pears', agent: 'Demo agent', folder: homedir(), isRunning: true, notedAt: '2026-05-01T12:00:00.000Z' },
    {
      number: 2,
      id: undefined,
      title: 'No messages yet',
      agent: undefined,
      folder: join(homedir(), 'plums'),
      isRunning: false,
      notedAt: '2026-05-01T11:55:00.000Z'
    }
  ])
  t.end()
})

t.test('a session is called by its name, else by its summary, else by its first words', t => {
  const summary = { text: 'Summary', updatedAt: now }
  const titles = [
    session({ name: 'Name', summary }, { firstPrompt: 'First words' }),
    session({ summary }, { firstPrompt: 'First words' }),
    session({}, { firstPrompt: 'First words' }),
    session({}, { firstPrompt: '' })
  ]
  t.strictSame(
    describeSessions(numbered(titles)).map(({ title }) => title),
    ['Name', 'Summary', 'First words', 'No messages yet']
  )
  t.end()
})

t.test('sessions are found by every word, in their title, folder, agent or id', t => {
  const sessions = [
    session({ name: 'Mend the Gate', agentTitle: 'Demo agent' }, { id: 'abc' }),
    session({ name: 'Mend the fence', path: '/srv/meadow' }, { id: 'def' })
  ]
  const found = (...words: string[]) => findSessions(sessions, words).map(({ notes }) => notes.id)
  t.strictSame(found(), ['abc', 'def'])
  t.strictSame(found('mend'), ['abc', 'def'])
  t.strictSame(found('MEND', 'gate'), ['abc'])
  t.strictSame(found('mend', 'orchard'), ['abc'])
  t.strictSame(found('demo'), ['abc'])
  t.strictSame(found('def'), ['def'])
  t.strictSame(found('gate', 'meadow'), [])
  t.end()
})

t.test('a list of ten aligns its numbers, and a conversation that is open says so', t => {
  const histories = Array.from({ length: 10 }, (_, index) => ({
    id: String(index),
    agent: 'Codex',
    title: `Number ${index}`,
    folder: '/srv',
    at: now - 60 * minute,
    ...(index === 9 && { openIn: 'a terminal' })
  }))
  const lines = drawHistories(histories as never, now, style, 80)
  t.strictSame(lines.slice(0, 2), ['   1  Number 0', '      Codex in /srv, 1 h ago'])
  t.strictSame(lines.slice(-2), ['  10  Number 9', '      Codex in /srv, open now'])
  t.end()
})
