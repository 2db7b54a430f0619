import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Fetch } from '../../lib/client/link/rest.ts'
import { OutboxFull } from '../../lib/client/outbox/outbox.ts'
import { newEnvelope, newSessionMessage, newUserText } from '../../lib/client/sealed/messages.ts'
import { cryptoReady, engine, toBase64 } from '../../lib/crypto/index.ts'
import type { SessionEvent } from '../../lib/protocol/sealed/messages.ts'
import { openHome } from '../../lib/wrapper/home/credentials.ts'
import { openJournalFile } from '../../lib/wrapper/home/journal-file.ts'
import { createSessionFolder, listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { fetch } from '../../lib/wrapper/uplink/network.ts'
import { openUplink, type Uplink } from '../../lib/wrapper/uplink/uplink.ts'
import { next, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { demo, texts, turnsEnded } from './kit/demo.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

t.test('a phone sees a message reach the computer at once, and the agent when its turn comes', async t => {
  const { server, phone, session } = await demo(t, ['SCRIPT: slow 2000 one two three four'])
  const app = await signUp(t, server, phone.secret)
  const line = await app.connect()
  await session.until(({ partials }) => partials.length > 0)
  const receipts = (least: 'deliveredSeq' | 'readSeq', seq: () => number) =>
    next(line, 'update', ({ body }) => body.t === 'session-receipts' && body[least] >= seq())
  const seq = () => session.seqOf('SCRIPT: text then') ?? Number.POSITIVE_INFINITY
  const delivered = receipts('deliveredSeq', () => 2)
  await session.say('SCRIPT: text then')
  const { body: first } = await delivered
  await session.until(() => session.seqOf('SCRIPT: text then') !== undefined)
  t.equal(first.deliveredSeq, seq())
  t.ok(first.readSeq < seq(), 'the turn before has not ended')
  const [{ body: second }] = await Promise.all([receipts('readSeq', seq), session.until(session => turnsEnded(session) === 2)])
  t.equal(second.readSeq, seq())
})

t.test("a session whose key does not decrypt the server's data stops sending, says so, and keeps its messages", async t => {
  const { server, phone, home, wrapper, session } = await demo(t, ['SCRIPT: text hello'])
  await session.until(session => turnsEnded(session) === 1)
  await wrapper.kill('SIGTERM')
  const [known] = listSessions(home)
  const file = join(known?.path ?? '', 'session.json')
  writeFileSync(file, JSON.stringify({ ...known?.notes, key: toBase64(engine.randomBytes(32)) }))
  const app = await signUp(t, server, phone.secret)
  const before = (await app.call('GET', `/v3/sessions/${session.id}/messages`)).body.messages.length

  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await resumed.says(/stopped: this session has another key on the server/)
  await resumed.kill('SIGTERM')
  t.match(resumed.output, /Unsent messages stay on this computer/)
  t.equal((await app.call('GET', `/v3/sessions/${session.id}/messages`)).body.messages.length, before)
  const { metadata } = (await app.call('GET', '/v1/sessions')).body.sessions[0]
  t.notOk(metadata === '', 'and nothing of the server’s was written over')
  t.match(listSessions(home), [{ pid: undefined, notes: { id: session.id } }], 'its folder is still there')
})

t.test('messages that cannot be decrypted are skipped, each is reported, and later ones are read', async t => {
  const { server, phone, session, wrapper } = await demo(t)
  await wrapper.says(/ live\n/)
  const app = await signUp(t, server, phone.secret)
  await app.send(session.id, { localId: 'garbage-1' }, { localId: 'garbage-2' })
  await session.say('SCRIPT: text still here')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['still here'])
  await session.until(({ events }) => services(events()).length > 0)
  t.match(services(session.events()), [/^Messages \d+ and \d+ were left out/])
  t.equal(services(session.events()).length, 1)
})

/** A session of a linked computer, without an agent. */
async function uplink(t: Test, fetch: Fetch, limitBytes?: number, known: { id?: string; isUntagged?: boolean } = {}) {
  await cryptoReady()
  const server = await startServer(t)
  const { phone, home: path } = await linkedComputer(t, server)
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is not linked')
  const metadata = { path, host: 'here', machineId: home.machineId }
  const key = toBase64(engine.randomBytes(32))
  const notes = { tag: 'faults', server: server.url, key, metadata: metadata as never, cursor: 0, turn: null, ...known }
  const folder = createSessionFolder(path, notes)
  const dropped: number[] = []
  const link = await openUplink({
    home,
    credentials,
    folder,
    fetch,
    limitBytes,
    onDropped: count => dropped.push(count)
  })
  t.teardown(() => link.close())
  return { server, phone, path, link, dropped }
}

t.test(
  'a message that the server always rejects is set aside, kept privately and reported, and its neighbours arrive in order [W5, W6]',
  async t => {
    const picky: Fetch = async (url, init) =>
      init.body?.includes('"poison"') === true && url.endsWith('/messages')
        ? { status: 413, headers: new Headers(), text: async () => '{"error":"Payload Too Large"}' }
        : fetch(url, init)
    const { phone, path, link } = await uplink(t, picky)
    await Promise.all(['a', 'b', 'poison', 'c'].map(name => link.put(newUserText(name), name)))
    t.ok(await link.end({ ms: 10_000 }))
    const session = await phone.session()
    await session.until(({ messages }) => messages.length === 4)
    t.strictSame(
      session.messages.flatMap(({ role, content }) => (role === 'user' ? Object(content).text : [])),
      ['a', 'b', 'c']
    )
    t.strictSame(services(session.events()), ['The server rejected a message, which is kept on this computer: Payload Too Large'])
    const file = join(listSessions(path)[0]?.path ?? '', 'set-aside.jsonl')
    t.match(JSON.parse(readFileSync(file, 'utf8')), { localId: 'poison', reason: 'Payload Too Large' })
    t.equal(statSync(file).mode & 0o777, 0o600)
  }
)

t.test('a server that does not know its name rejects no message: they wait until it does [W5]', async t => {
  let refusals = 0
  const misdirected: Fetch = async (url, init) => {
    if (refusals > 1 || !url.endsWith('/messages')) return fetch(url, init)
    refusals++
    return { status: 421, headers: new Headers(), text: async () => '{"error":"This server listens for its own machine only"}' }
  }
  const { phone, link } = await uplink(t, misdirected)
  await link.put(newUserText('patient'))
  t.ok(await link.end({ ms: 10_000 }))
  t.equal(refusals, 2)
  const session = await phone.session()
  await session.until(({ messages }) => messages.length > 0)
  t.match(session.messages, [{ role: 'user', content: { text: 'patient' } }])
})

t.test('a session unknown to the server, with no way to tell why, ends and keeps its pending messages', async t => {
  let isLost = false
  const forgetful: Fetch = async (url, init) =>
    isLost && (url.endsWith('/messages') || url.includes('/v1/changes'))
      ? { status: 404, headers: new Headers(), text: async () => '{"error":"Session not found"}' }
      : fetch(url, init)
  const { phone, path, link } = await uplink(t, forgetful)
  await link.put(newUserText('delivered'))
  await (await phone.session()).until(({ messages }) => messages.length === 1)
  isLost = true
  await link.put(newUserText('left'))
  t.equal(await link.end({ ms: 10_000 }), false)
  t.equal(link.link.type, 'unknown')
  const [known] = listSessions(path)
  const journal = openJournalFile(join(known?.path ?? '', 'outbox.journal'))
  t.equal((await journal.load()).length, 1)
  await journal.close()
})

t.test('pending messages of a session known only by its id reach a server that does not know it', async t => {
  const { phone, link } = await uplink(t, fetch, undefined, { id: 'younger-than-the-backup', isUntagged: true })
  await link.put(newUserText('late'))
  t.ok(await link.end({ ms: 10_000 }))
  const session = await phone.session()
  await session.until(({ messages }) => messages.length > 0)
  t.match(session.messages, [{ role: 'user', content: { text: 'late' } }])
})

t.test('messages written during shutdown stay on disk for the next process [W1]', async t => {
  let link: Uplink | undefined
  const late: Fetch = async (url, init) => {
    if (url.endsWith('/archive')) await link?.put(newUserText('late'), 'late')
    if (init.body?.includes('"late"') === true) throw new Error('no network')
    return fetch(url, init)
  }
  const opened = await uplink(t, late)
  link = opened.link
  await link.put(newUserText('in time'))
  t.equal(await link.end({ ms: 10_000 }), false)
  t.equal(link.waiting, 1)
})

t.test('when too much is pending the agent continues, its oldest thoughts are dropped first, and its person is told [W3]', async t => {
  const down: Fetch = async () => {
    throw new Error('no network')
  }
  const { link, dropped } = await uplink(t, down, 4000)
  const say = (text: string, thinking: boolean) =>
    link.put(newSessionMessage(newEnvelope({ t: 'text', text, ...(thinking && { thinking }) }, { role: 'agent', turn: 'turn' })))
  for (let n = 0; n < 4; n++) await say(`thought ${n}`, true)
  for (let n = 0; n < 4; n++) await say(`word ${n}`, false)
  const before = link.waiting
  while (dropped.length < 4) await say('more words', false)
  t.strictSame(dropped, [1, 1, 1, 1], 'one for each word that needed room')
  t.ok(link.waiting > before - 4)
  await t.rejects(async () => {
    for (let n = 0; n < 100; n++) await say('more words', false)
  }, OutboxFull)
})

function services(events: readonly SessionEvent[]): string[] {
  return events.flatMap(event => (event.t === 'service' ? event.text : []))
}
