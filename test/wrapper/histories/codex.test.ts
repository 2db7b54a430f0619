import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { codexBeginning, codexHistories, codexLines, codexSayings } from '../../../lib/wrapper/histories/codex.ts'
import { folderOfThread, noSuchThread } from '../../../lib/wrapper/histories/codex-fork.ts'

const id = '0199a213-81c0-7800-8aa1-bbab2a035a53'

t.test('the threads of Codex are found in its home, wherever that is, and none where it never ran', async t => {
  const day = { [`rollout-2026-01-02T03-04-05-${id}.jsonl`]: '', 'rollout-of-another.jsonl': '', 'notes.txt': '' }
  const home = t.testdir({ '.codex': { sessions: { 2026: { '01': { '02': day } } } }, other: {} })
  const own = { agent: 'codex', id, file: join(home, `.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`) }
  t.match(codexHistories({ HOME: home }), [own])
  t.equal(codexHistories({ HOME: home }).length, 1)
  t.match(codexHistories({ HOME: join(home, 'other'), CODEX_HOME: join(home, '.codex') }), [own])
  t.same(codexHistories({ HOME: home, CODEX_HOME: join(home, 'other') }), [])
  t.same(codexHistories({ HOME: join(home, 'other') }), [])
})

/** The file of a thread, whose lines are these. */
function written(codex: string, thread: string, payloads: readonly unknown[]): string {
  const folder = join(codex, 'sessions', '2026', '01', '02')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `rollout-2026-01-02T03-04-05-${thread}.jsonl`)
  writeFileSync(file, payloads.map(payload => `${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n`).join(''))
  return file
}

const begin = (cwd: string, more = {}) => ({ type: 'session_meta', payload: { cwd, ...more } })
const event = (payload: unknown) => ({ type: 'event_msg', payload })
const asked = (message: string) => event({ type: 'user_message', message })
const told = (message: string) => event({ type: 'agent_message', message })
const completed = (type: string, ...texts: (string | undefined)[]) =>
  event({ type: 'item_completed', item: { type, content: texts.map(text => (text === undefined ? { image: 'x' } : { text })) } })

t.test('what a line of Codex says is told alike by its older and newer versions', t => {
  const said = (row: unknown) => codexSayings(JSON.stringify(row))
  for (const row of [asked('Prune'), completed('UserMessage', 'Pr', undefined, 'une')])
    t.strictSame(said(row), [{ by: 'person', text: 'Prune' }])
  for (const row of [told('Pruned'), completed('AgentMessage', 'Pruned')]) t.strictSame(said(row), [{ by: 'agent', text: 'Pruned' }])
  const nothing = [completed('UserMessage', undefined), completed('Reasoning', 'hm'), begin('/srv'), { ...asked('x'), type: 'other' }]
  t.strictSame(nothing.flatMap(said), [])
  t.strictSame(codexSayings('{"type'), [])
  t.end()
})

t.test('a thread begins in the folder of its own, and with the first words of the one it was forked from', t => {
  const codex = t.testdir({})
  const [first, second] = [id.replace('0199', '0001'), id.replace('0199', '0002')]
  const parts = [begin('/srv/orchard'), told('Hello'), asked('Plant'), asked('Later')]
  const file = written(codex, first, parts)
  t.strictSame(codexBeginning(file), { title: 'Plant', folder: '/srv/orchard' })
  const end = Buffer.byteLength(
    parts
      .slice(0, 3)
      .map(part => `${JSON.stringify(part)}\n`)
      .join('')
  )
  const base = { history_base: { thread_id: first, end_byte_offset: end } }
  const fork = written(codex, second, [begin('/srv/copy', base), asked('Prune')])
  const ofFork = written(codex, id, ['{"damaged', begin('/srv/third', { history_base: { thread_id: second, end_byte_offset: 10_000 } })])
  t.strictSame(codexBeginning(fork), { title: 'Plant', folder: '/srv/copy' })
  t.strictSame(codexBeginning(ofFork), { title: 'Plant', folder: '/srv/third' })
  t.strictSame(
    codexLines(ofFork).flatMap(line => codexSayings(line).map(({ text }) => text)),
    ['Hello', 'Plant', 'Prune'],
    'nothing that was said in the first after it was forked'
  )
  t.equal(codexBeginning(written(codex, id, [begin('/srv')])), undefined, 'nobody said anything')
  t.equal(codexBeginning(written(codex, id, [asked('Plant')])), undefined, 'in no folder')
  const lost = begin('/srv', { history_base: { thread_id: 'x', end_byte_offset: 5 } })
  t.strictSame(codexBeginning(written(codex, id, [lost, asked('Plant')])), { title: 'Plant', folder: '/srv' }, 'its first part is gone')
  const itself = begin('/srv', { history_base: { thread_id: id, end_byte_offset: 5 } })
  t.strictSame(codexBeginning(written(codex, id, [itself, asked('Plant')])), { title: 'Plant', folder: '/srv' }, 'a circle ends')
  t.end()
})

t.test('the folder of a thread is needed to copy it', t => {
  const codex = t.testdir({})
  written(codex, id, [begin('/srv/orchard'), asked('Plant')])
  t.equal(folderOfThread({ CODEX_HOME: codex }, id), '/srv/orchard')
  t.throws(() => folderOfThread({ CODEX_HOME: codex }, id.replace('0199', '0001')), { message: noSuchThread })
  written(codex, id, [begin('/srv/orchard')])
  t.throws(() => folderOfThread({ CODEX_HOME: codex }, id), { message: noSuchThread })
  t.end()
})
