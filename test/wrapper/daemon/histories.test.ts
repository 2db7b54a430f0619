import { mkdirSync, readFileSync, realpathSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../kit/server.ts'
import { fakeClaude, installFakeAdapter, said } from '../kit/claude.ts'
import { daemonOf } from '../kit/daemon.ts'
import { texts, turnsEnded } from '../kit/demo.ts'
import { writeCodex } from '../kit/histories.ts'
import { fakeOpencode } from '../kit/opencode.ts'
import { runWrapper } from '../kit/wrapper.ts'

const idOf = (number: number) => `0000000${number}-0000-4000-8000-000000000000`

/** A conversation that Claude Code wrote down, of prompts and answers. */
function writeClaude(config: string, cwd: string, id: string, turns: readonly (readonly [string, string])[], at: number): string {
  const folder = join(config, 'projects', realpathSync(cwd).replace(/[^a-zA-Z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  const rows = turns.flatMap(([prompt, answer], index) => {
    const timestamp = new Date(at + index * 1000).toISOString()
    const own = { sessionId: id, cwd, timestamp }
    return [
      { ...own, type: 'user', uuid: `u${index}`, message: { role: 'user', content: prompt } },
      {
        ...own,
        type: 'assistant',
        uuid: `a${index}`,
        message: { role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text: answer }] }
      }
    ]
  })
  const file = join(folder, `${id}.jsonl`)
  writeFileSync(file, [{ type: 'summary', summary: 'x' }, ...rows].map(row => `${JSON.stringify(row)}\n`).join(''))
  utimesSync(file, at / 1000, at / 1000)
  return file
}

const day = Date.parse('2026-01-02T00:00:00Z')

t.test('conversations started in the agents alone are listed, searched, forked and continued, with their past sent once', async t => {
  const own = t.testdir({ config: {}, codex: {}, data: {} })
  const config = join(own, 'config')
  const env = { CLAUDE_CONFIG_DIR: config, CODEX_HOME: join(own, 'codex'), CLAUDE_CODE_EXECUTABLE: fakeClaude }
  const { phone, home, allowed, machine } = await daemonOf(t, await startServer(t, { data: join(own, 'data') }), env)
  installFakeAdapter(home)
  const elsewhere = join(home, '..', 'elsewhere')
  mkdirSync(elsewhere)
  const turns = [
    ['Plant the apple trees', 'Planted twelve.'],
    ['And the pears', 'Pears stand by the wall.']
  ] as const
  writeClaude(config, allowed, idOf(1), turns, day)
  writeClaude(config, allowed, idOf(2), [['Water the garden', 'Done.']], day + 60_000)
  writeClaude(config, elsewhere, idOf(3), [['Secret pears', 'Yes.']], day + 120_000)
  writeCodex(join(own, 'codex'), allowed, idOf(4), day - 60_000)

  const list = async (asked: { words?: string; limit?: number; cursor?: string }) => Object(await machine.call('agent-histories', asked))
  const all = await list({})
  t.match(all, {
    histories: [
      { agent: 'claude', id: idOf(2), title: 'Water the garden', folder: allowed, at: day + 60_000 },
      { agent: 'claude', id: idOf(1), title: 'Plant the apple trees' },
      { agent: 'codex', id: idOf(4), title: 'Prune the hedge' }
    ],
    cursor: null
  })
  t.equal(all.histories.length, 3, 'none of a folder that is not allowed')
  const page = await list({ limit: 2 })
  t.equal(page.histories.length, 2)
  t.match(await list({ limit: 2, cursor: page.cursor }), { histories: [{ id: idOf(4) }], cursor: null })
  t.match((await list({ words: 'APPLE plant' })).histories, [{ id: idOf(1) }])

  const found = Object(await machine.call('search-histories', { words: 'pears wall' }))
  t.match(found, { hits: [{ id: idOf(1), by: 'agent', sentence: 'Pears stand by the wall.' }], isComplete: true })
  t.equal(Object(await machine.call('search-histories', { words: 'secret' })).hits.length, 0)

  const claude = { directory: allowed, claudeSessionId: idOf(1) }
  t.match(await machine.call('claude-list-rewind-points', claude), {
    type: 'success',
    points: [{ uuid: 'u0', text: 'Plant the apple trees', timestamp: day }, { uuid: 'u1' }]
  })
  const { newClaudeSessionId } = Object(await machine.call('claude-duplicate-session', { ...claude, cutAfterUuid: 'u0' }))
  const copy = readFileSync(
    join(config, 'projects', realpathSync(allowed).replace(/[^a-zA-Z0-9]/g, '-'), `${newClaudeSessionId}.jsonl`),
    'utf8'
  )
  t.match(copy, /Planted twelve/)
  t.notMatch(copy, /pears/)
  t.match(copy, new RegExp(`"sessionId":"${newClaudeSessionId}"`))
  t.notMatch(copy, new RegExp(idOf(1)))
  await t.rejects(machine.call('claude-duplicate-session', { ...claude, cutAfterUuid: 'nobody' }), /no longer in the conversation/)
  await t.rejects(machine.call('claude-fork-session', { directory: elsewhere, claudeSessionId: idOf(3) }), /no such conversation/)

  await machine.call('spawn-happy-session', { directory: allowed, agent: 'claude', resumeClaudeSessionId: idOf(1) })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['Plant the apple trees', 'And the pears'])
  t.strictSame(texts(session), ['Planted twelve.', 'Pears stand by the wall.'])
  await session.say('and now?')
  await session.until(session => turnsEnded(session) === 3)
  t.equal(said(session).length, 3, 'its past is told once')
  t.match((await list({ words: 'apple' })).histories, [{ id: idOf(1), session: session.id, openIn: 'session' }, { id: newClaudeSessionId }])
  await t.rejects(
    machine.call('spawn-happy-session', { directory: allowed, agent: 'claude', conversation: idOf(1) }),
    /already open in a running session/
  )
  const adopt = runWrapper(t, { home, args: ['adopt', idOf(1)], env, directory: allowed })
  t.equal(await adopt.ended, 78)
  t.match(adopt.output, /already open in a running session/)

  const forked = Object(await machine.call('fork-session', { sessionId: session.id, at: 'u0' }))
  const fork = await phone.session([session.id])
  t.equal(fork.id, forked.sessionId)
  await fork.until(fork => turnsEnded(fork) === 1)
  t.strictSame(texts(fork), ['Planted twelve.'])
  t.match(fork.metadata, { parentSessionId: session.id, forkedFromMessageId: 'u0' })
})

t.test('conversations started in opencode alone are listed, searched and continued, with their past sent once', async t => {
  const own = t.testdir({ home: { '.local': { share: { opencode: { 'opencode.db': '' } } } }, data: {} })
  const env = { HOME: join(own, 'home'), OPENCODE_BIN_PATH: fakeOpencode }
  const { phone, allowed, machine, home } = await daemonOf(t, await startServer(t, { data: join(own, 'data') }), env)
  const kept = join(own, 'home', 'opencode.kept.json')
  const conversation = (id: string, directory: string, at: number, said: readonly string[]) => ({
    ...{ id, title: `About ${said[0]}`, directory, at },
    messages: said.map((text, index) => ({
      info: {
        id: `msg_${index}`,
        sessionID: id,
        role: index % 2 ? 'assistant' : 'user',
        time: { created: at + index, completed: at + index }
      },
      parts: [{ id: `prt_${index}`, messageID: `msg_${index}`, sessionID: id, type: 'text', text, time: { start: at, end: at } }]
    }))
  })
  const hedge = conversation('ses_hedge', allowed, day, ['the hedge', 'Pruned with care.'])
  const secret = conversation('ses_secret', home, day + 1, ['the hedge of others', 'Pruned.'])
  writeFileSync(kept, JSON.stringify({ ses_hedge: hedge, ses_secret: secret }))

  const listed = Object(await machine.call('agent-histories', { agent: 'opencode' }))
  t.strictSame(listed.histories, [{ agent: 'opencode', id: 'ses_hedge', title: 'About the hedge', folder: allowed, at: day }])
  t.match(await machine.call('search-histories', { words: 'PRUNED care' }), {
    hits: [{ id: 'ses_hedge', by: 'agent', sentence: 'Pruned with care.' }],
    isComplete: true
  })
  t.equal(Object(await machine.call('search-histories', { words: 'others' })).hits.length, 0)

  await machine.call('spawn-happy-session', { directory: allowed, agent: 'opencode', conversation: 'ses_hedge' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), ['the hedge'])
  t.strictSame(texts(session), ['Pruned with care.'])
  await session.say('and the roses?')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['the hedge', 'and the roses?'], 'its past is told once')
})
