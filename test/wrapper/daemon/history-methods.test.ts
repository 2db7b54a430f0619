import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { historyMethods } from '../../../lib/wrapper/daemon/history-methods.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { writeCodex } from '../kit/histories.ts'

const idOf = (number: number) => `0000000${number}-0000-4000-8000-000000000000`

/** A computer with conversations of Claude Code in the folder where a phone may work, and elsewhere. */
function computer(t: Test) {
  const own = realpathSync(t.testdir({ home: {}, config: {}, codex: {}, allowed: {}, elsewhere: {} }))
  const at = (...parts: string[]) => join(own, ...parts)
  writeFileSync(at('home', 'policy.json'), JSON.stringify({ folders: [at('allowed')] }), { mode: 0o600 })
  const projectOf = (cwd: string) => at('config', 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'))
  const write = (cwd: string, id: string) => {
    const row = { sessionId: id, cwd, timestamp: '2026-01-02T00:00:00.000Z' }
    const answer = (text: string) => ({ role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text }] })
    const rows = ['one', 'two'].flatMap(name => [
      { ...row, type: 'user', uuid: `u-${name}`, message: { role: 'user', content: `Plant ${name}` } },
      { ...row, type: 'assistant', uuid: `a-${name}`, message: answer(`Planted ${name}.`) }
    ])
    mkdirSync(projectOf(cwd), { recursive: true })
    writeFileSync(join(projectOf(cwd), `${id}.jsonl`), rows.map(each => `${JSON.stringify(each)}\n`).join(''))
  }
  write(at('allowed'), idOf(1))
  write(at('elsewhere'), idOf(2))
  writeCodex(at('codex'), at('allowed'), idOf(3), 0)
  writeCodex(at('codex'), at('elsewhere'), idOf(4), 0)
  const env = { CLAUDE_CONFIG_DIR: at('config'), CODEX_HOME: at('codex'), PATH: '/nowhere', CODEX_BIN: '/nowhere/codex' }
  const methods = historyMethods({ home: at('home'), server: 'https://home.example', env })
  const read = (id: string) => readFileSync(join(projectOf(at('allowed')), `${id}.jsonl`), 'utf8')
  return { at, methods, read }
}
const nobodys = { message: 'Claude Code has no such conversation on this computer.' }

t.test('a phone lists and searches the conversations of the folders where it may work', async t => {
  const { at, methods } = computer(t)
  const { histories } = await methods['agent-histories']({})
  t.strictSame(histories.map(({ id, folder }) => [id, folder]).toSorted(), [
    [idOf(1), at('allowed')],
    [idOf(3), at('allowed')]
  ])
  const { hits, isComplete } = await methods['search-histories']({ words: 'planted' })
  t.equal(isComplete, true)
  t.ok(hits.length > 0)
  for (const hit of hits) {
    t.match(hit, { id: idOf(1) })
    t.notOk('text' in hit, 'an excerpt is enough')
  }
})

t.test('a conversation of Claude Code is forked whole or up to a message, and no other is', async t => {
  const { at, methods, read } = computer(t)
  const directory = at('allowed')
  t.match(methods['claude-list-rewind-points']({ directory, claudeSessionId: idOf(1) }), {
    type: 'success',
    points: [{ uuid: 'u-one' }, { uuid: 'u-two' }]
  })
  const whole = methods['claude-fork-session']({ directory, claudeSessionId: idOf(1) })
  t.equal(whole.type, 'success')
  t.not(whole.newClaudeSessionId, idOf(1))
  t.match(read(whole.newClaudeSessionId), /Plant one[\s\S]*Planted two/)
  const part = methods['claude-duplicate-session']({ directory, claudeSessionId: idOf(1), cutAfterUuid: 'a-one' })
  t.equal(part.type, 'success')
  t.match(read(part.newClaudeSessionId), /Planted one/)
  t.notMatch(read(part.newClaudeSessionId), /Plant two/)
  for (const claudeSessionId of [idOf(2), idOf(9)]) {
    t.throws(() => methods['claude-fork-session']({ directory, claudeSessionId }), nobodys)
    t.throws(() => methods['claude-list-rewind-points']({ directory, claudeSessionId }), nobodys)
    t.throws(() => methods['claude-duplicate-session']({ directory, claudeSessionId, cutAfterUuid: 'a-one' }), nobodys)
  }
})

t.test('a conversation of Codex elsewhere is not forked, and one that may be needs Codex', async t => {
  const { methods } = computer(t)
  const asked = (codexThreadId: string): (() => Promise<unknown>)[] => [
    () => methods['codex-fork-thread']({ codexThreadId }),
    () => methods['codex-list-rewind-points']({ codexThreadId }),
    () => methods['codex-duplicate-thread']({ codexThreadId, cutAfterItemId: 'item' })
  ]
  const none = /Codex has no such conversation on this computer/
  for (const ask of asked(idOf(4))) await t.rejects(ask(), { message: none })
  for (const ask of asked(idOf(3))) await t.rejects(ask(), { message: /\bcodex\b(?!.*no such conversation)/i })
})

t.test('a session is rewound and forked only if this computer knows it, and its agent can', async t => {
  const { at, methods } = computer(t)
  const unknown = { message: 'This computer does not know the session.' }
  await t.rejects(methods['rewind-points']({ sessionId: 'nobody' }), unknown)
  await t.rejects(methods['fork-session']({ sessionId: 'nobody' }), unknown)
  const session = (id: string, kind: 'claude' | 'demo') => {
    const metadata = { path: at('allowed'), host: 'here', agentSessionId: idOf(1) }
    const notes = { tag: id, id, server: 'https://home.example', key: null, metadata, cursor: 0, turn: null, program: { kind } }
    createSessionFolder(at('home'), notes).retire()
  }
  session('claudes', 'claude')
  session('demos', 'demo')
  t.match(await methods['rewind-points']({ sessionId: 'claudes' }), { points: [{ uuid: 'u-one' }, { uuid: 'u-two' }] })
  await t.rejects(methods['rewind-points']({ sessionId: 'demos' }), { message: /^Only sessions of Claude Code and Codex can be/ })
})
