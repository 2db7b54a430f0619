import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { AgentEvent, HistoryPosition, StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { codexKind } from '../../../../lib/wrapper/agents/codex/codex.ts'
import { programFile } from '../../../kit/program.ts'
import { listenTo, testAgent } from '../contract.ts'

if (process.platform === 'win32') t.bailout('the fake is a script')

const fakeCodex = resolve('test/wrapper/agents/codex/fake-codex.mjs')
const kindIn = (directory: string, env: Record<string, string> = {}) => {
  const told: string[] = []
  const kind = codexKind({
    home: join(directory, '.afield'),
    env: { PATH: process.env['PATH'] ?? '', CODEX_BIN: fakeCodex, ...env },
    tell: line => void told.push(line)
  })
  return { kind, told }
}
const start = (how: StartAgent) => kindIn(how.directory).kind.start(how)

testAgent(t, {
  start,
  write: (path, content, end) => `write ${JSON.stringify({ path, content, end })}`,
  slow: (ms, words) => `slow ${ms} ${words}`,
  has: {
    choices: { model: 'quick', effort: 'high' },
    form: {
      prompt: 'ask',
      id: 'colour',
      other: 'days',
      said: (value, text) => new RegExp(`a ${value} gate in ${text} days`),
      notSaid: /as you like/
    },
    link: url => `open ${url}`,
    image: { prompt: 'look', said: /image data:image\/png;base64/ },
    steering: true,
    whyNot: reason => new RegExp(`you said: ${reason}`)
  }
})

t.test('an unknown version is driven through the adapter if installed, and says what to do if not', async t => {
  const directory = t.testdir()
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory }
  const old = kindIn(directory, { PATH: '' }).kind.start({ directory, env: { ...env, FAKE_VERSION: '0.42.0' } })
  await t.rejects(old, { message: /supports Codex 0.169.0 and later; this is 0.42.0. Update it, or install its adapter/ })
  const next = kindIn(directory, { PATH: '' }).kind.start({ directory, env: { ...env, FAKE_VERSION: '1.0.0', FAKE_REFUSES: '1' } })
  await t.rejects(next, { message: /does not support Codex 1.0.0 yet[\s\S]*unknown option --listen/ })

  const bin = join(directory, 'bin')
  mkdirSync(bin)
  const adapter = `#!/bin/sh\nexec ${process.execPath} ${programFile()} demo-agent ${join(directory, 'state')}\n`
  writeFileSync(join(bin, 'codex-acp'), adapter, { mode: 0o755 })
  const { kind, told } = kindIn(directory, { PATH: bin })
  const agent = await kind.start({ directory, env: { ...env, FAKE_VERSION: '0.42.0' } })
  t.teardown(() => agent.stop())
  t.match(told, [/0.42.0.*through codex-acp on your phone instead/])
  await listenTo(agent).until('modes')
})

t.test('a version newer than the tested one is reported to the phone', async t => {
  const directory = t.testdir()
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory, FAKE_VERSION: '0.181.0' } })
  t.teardown(() => agent.stop())
  t.match(await listenTo(agent).until('notice'), { text: /^Codex 0\.181\.0 is newer than tested \(0\.169\.0\)/ })
})

t.test('history after a cursor is sent again under the same names, and our own messages as ours', async t => {
  const directory = t.testdir()
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory }
  const first = await start({ directory, env })
  const talk = listenTo(first)
  const begun = await talk.until('history-read')
  for (const words of ['one', 'two']) {
    await first.prompt(`slow 1 ${words}`)
    await talk.until('turn-ended')
  }
  await first.stop()
  const again = await start({ directory, env, resume: first.conversation, sentUpTo: begun.upTo })
  t.teardown(() => again.stop())
  const named = (events: readonly AgentEvent[]) =>
    events.flatMap(event => (event.type === 'text' || event.type === 'prompted' ? [[event.text, event.row]] : []))
  t.strictSame(named(again.unsent?.events ?? []), named(talk.heard))
  t.equal(named(talk.heard).length, 4)
  t.ok(again.unsent?.events.every(event => event.type !== 'prompted' || event.isOurs))
  const later = await start({ directory, env, resume: first.conversation, sentUpTo: again.unsent?.upTo })
  t.teardown(() => later.stop())
  t.strictSame(later.unsent?.events, [], 'and all was told by then')
})

t.test('a conversation that Codex has lost is not continued under its name; an empty one is not missed', async t => {
  const directory = t.testdir()
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory }
  const resume = async (conversation: string, sentUpTo: HistoryPosition) => {
    const agent = await start({ directory, env, resume: conversation, sentUpTo })
    t.teardown(() => agent.stop())
    const heard = listenTo(agent)
    await heard.until('history-read')
    await agent.prompt('hello')
    await heard.until('turn-ended')
    return { id: agent.conversation, notices: heard.heard.filter(({ type }) => type === 'notice'), heard: heard.heard }
  }
  const first = await start({ directory, env })
  const talk = listenTo(first)
  const empty = await talk.until('history-read')
  await first.prompt('hello')
  await talk.until('turn-ended')
  const { conversation } = first
  await first.stop()
  const told = talk.heard.findLast(event => event.type === 'history-read')

  rmSync(join(directory, '.codex', `${conversation}.json`))
  const lost = await resume(conversation, told?.upTo ?? empty.upTo)
  t.match(lost.notices, [{ text: /no longer has this conversation, so a new one starts/ }])
  t.not(lost.id, conversation)
  t.match(
    lost.heard.filter(({ type }) => type === 'conversation'),
    [{ id: lost.id }],
    'and the session goes by its name'
  )
  t.strictSame((await resume(conversation, empty.upTo)).notices, [])
})

t.test('an error and the next attempt are reported', async t => {
  const directory = t.testdir()
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  const cases: [message: string, info: unknown, told: object][] = [
    ['Reconnecting... 2/5', { responseStreamConnectionFailed: { httpStatusCode: 503 } }, { attempt: 2, of: 5, why: 'overloaded' }],
    ['Reconnecting... 1/5', { responseTooManyFailedAttempts: { httpStatusCode: 429 } }, { attempt: 1, of: 5, why: 'limit' }],
    ['Reconnecting... 3/5', { responseStreamDisconnected: { httpStatusCode: null } }, { attempt: 3, of: 5, why: 'unreachable' }],
    ['no', 'unauthorized', { attempt: 1, of: undefined, why: 'sign-in' }],
    ['no', null, { attempt: 1, of: undefined, why: 'other' }]
  ]
  for (const [message, info, told] of cases) {
    await agent.prompt(`refuse ${JSON.stringify([message, info])}`)
    t.match(await talk.until('retrying'), told, message)
    t.match(await talk.until('text'), { text: 'after all' })
    await talk.until('turn-ended')
  }
})
