import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  claudeBeginning,
  claudeHistories,
  claudeSayings,
  findClaudeHistory,
  forkClaude,
  openInClaude,
  rewindPoints
} from '../../../lib/wrapper/histories/claude.ts'

const id = '00000001-0000-4000-8000-000000000000'
const began = Date.parse('2026-01-02T00:00:00Z')
const prompt = (uuid: string, text: unknown) => ({ type: 'user', uuid, sessionId: id, cwd: '/srv/orchard', message: { content: text } })
const answer = (uuid: string, text: string) => ({
  type: 'assistant',
  uuid,
  sessionId: id,
  message: { model: 'm', content: [{ type: 'text', text }] }
})
const result = { type: 'user', uuid: 'r', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] } }
const steered = { type: 'attachment', uuid: 'q', attachment: { type: 'queued_command', commandMode: 'prompt', prompt: 'And water them' } }
const orchard = [
  { type: 'summary', summary: 'Trees' },
  { ...prompt('u0', 'Plant the apple trees'), timestamp: new Date(began).toISOString() },
  steered,
  result,
  answer('a0', 'Planted twelve.'),
  prompt('u1', [{ type: 'text', text: 'And the pears' }]),
  answer('a1', 'Pears stand by the wall.')
]

/** A conversation in a folder of Claude Code. The last line may be without its end. */
function written(t: Test, rows: readonly unknown[], last = '') {
  const config = t.testdir({ projects: { orchard: {}, 'notes.txt': '' } })
  const file = join(config, 'projects', 'orchard', `${id}.jsonl`)
  writeFileSync(file, rows.map(row => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('') + last)
  utimesSync(file, 60, 60)
  return { config, file, history: { agent: 'claude' as const, id, file, at: 60_000 } }
}

const rowsOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

t.test('the conversations of Claude Code are the files with an id in its projects, and none where it never ran', t => {
  const { config, history } = written(t, orchard)
  for (const other of ['notes.jsonl', `${id}.json`, `${id}.jsonl.bak`]) writeFileSync(join(config, 'projects', 'orchard', other), '')
  t.strictSame(claudeHistories({ CLAUDE_CONFIG_DIR: config }), [history])
  t.strictSame(claudeHistories({ CLAUDE_CONFIG_DIR: join(config, 'projects') }), [])
  t.strictSame(findClaudeHistory({ CLAUDE_CONFIG_DIR: config }, id), history)
  t.throws(() => findClaudeHistory({ CLAUDE_CONFIG_DIR: config }, 'other'), {
    message: 'Claude Code has no such conversation on this computer.'
  })
  t.end()
})

t.test('a conversation begins with the first words of a person and the first folder', t => {
  const beginning = (rows: readonly unknown[]) => claudeBeginning(written(t, rows).file)
  t.strictSame(beginning(orchard), { title: 'Plant the apple trees', folder: '/srv/orchard' })
  const moved = [
    { type: 'system', cwd: '/srv/first' },
    answer('a', 'Hello'),
    'damaged',
    { ...prompt('u', 'Prune'), cwd: '/srv/second' },
    prompt('v', 'Later')
  ]
  t.strictSame(beginning(moved), { title: 'Prune', folder: '/srv/first' })
  t.strictSame(beginning([{ ...prompt('u', 'Prune'), cwd: undefined }, { cwd: '/srv/later' }]), { title: 'Prune', folder: '/srv/later' })
  t.equal(beginning([{ type: 'system', cwd: '/srv' }, answer('a', 'Hello')]), undefined, 'nobody said anything')
  t.equal(beginning([{ ...prompt('u', 'Prune'), cwd: undefined }]), undefined, 'in no folder')
  t.end()
})

t.test('what a line says is text, by the person or the agent', t => {
  const said = (row: unknown) => claudeSayings(JSON.stringify(row))
  t.strictSame(said(prompt('u', 'Prune')), [{ by: 'person', text: 'Prune' }])
  t.strictSame(said(answer('a', 'Pruned')), [{ by: 'agent', text: 'Pruned' }])
  t.strictSame([said(result), said({ type: 'custom-title', customTitle: 'Trees' })], [[], []])
  t.end()
})

t.test('a conversation can be forked after each prompt that began a turn; one without a time has none', t => {
  const { history } = written(t, [...orchard, { ...prompt('', 'Nameless'), uuid: undefined }], JSON.stringify(prompt('u2', 'Being writ')))
  t.strictSame(rewindPoints(history), [
    { uuid: 'u0', text: 'Plant the apple trees', timestamp: began },
    { uuid: 'u1', text: 'And the pears', timestamp: 0 }
  ])
  t.end()
})

t.test('a fork is a copy with another id, whole or up to the end of a turn', t => {
  const { config, history } = written(t, [...orchard, 'null', '"text"'], '{"half')
  const forked = (at?: string) => {
    const name = forkClaude(history, at)
    t.not(name, id)
    const rows = rowsOf(join(config, 'projects', 'orchard', `${name}.jsonl`))
    return rows.map(row => (row?.sessionId === name ? { ...row, sessionId: id } : row))
  }
  const all = [...orchard, null, 'text']
  t.strictSame(forked(), all)
  t.strictSame(forked('u0'), orchard.slice(0, 5), 'what was said during the turn belongs to it')
  t.strictSame(forked('u1'), all.slice(0), 'the last turn ends with the conversation')
  const files = readdirSync(join(config, 'projects', 'orchard')).length
  t.throws(() => forkClaude(history, 'u9'), { message: 'This message is no longer in the conversation.' })
  t.equal(readdirSync(join(config, 'projects', 'orchard')).length, files)
  t.end()
})

t.test('open in Claude Code is what a running process says, unless that process is younger than the file', t => {
  const config = t.testdir({ nothing: {} })
  const env = { CLAUDE_CONFIG_DIR: config }
  t.strictSame([...openInClaude(env)], [])
  const sessions = join(config, 'sessions')
  mkdirSync(sessions)
  const note = (name: string, value: unknown) => {
    writeFileSync(join(sessions, name), typeof value === 'string' ? value : JSON.stringify(value))
    return join(sessions, name)
  }
  note('own.json', { pid: process.pid, sessionId: 'mine' })
  note('ended.json', { pid: 2 ** 22 + 1, sessionId: 'ended' })
  note('damaged.json', '{')
  const old = note('old.json', { pid: process.pid, sessionId: 'of another program' })
  const startedAt = Date.now() - process.uptime() * 1000
  // Clocks may differ by a minute.
  utimesSync(old, startedAt / 1000 - 70, startedAt / 1000 - 70)
  const near = note('near.json', { pid: process.pid, sessionId: 'near' })
  utimesSync(near, startedAt / 1000 - 50, startedAt / 1000 - 50)
  t.strictSame(
    openInClaude(env),
    new Map([
      ['mine', process.pid],
      ['near', process.pid]
    ])
  )
  t.end()
})
