import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { createOrder } from '../../lib/client/sealed/message-order.ts'
import { fromBase64 } from '../../lib/crypto/bytes.ts'
import { listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { type Packet, startLyingServer } from '../kit/lying-server.ts'
import { startServer } from '../kit/server.ts'
import type { PhoneSession } from './kit/phone.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

const longWaits = pathToFileURL(resolve('test/wrapper/kit/long-waits.mjs')).href

/** A real wrapper and a real client of ours, between them a server that tells the truth until it is told to lie. */
async function lied(t: Test, env: Record<string, string> = {}) {
  const liar = await startLyingServer(t, (await startServer(t)).url)
  const { phone, home } = await linkedComputer(t, liar)
  const wrapper = runWrapper(t, { home, args: ['demo'], env })
  const session = await phone.session()
  await session.until(({ metadata }) => metadata.methods !== undefined)
  return { liar, phone, home, wrapper, session, folder: session.metadata.path }
}

/** What the session says was wrong with what reached the machine. */
function faults({ events }: Pick<PhoneSession, 'events'>): string[] {
  return events().flatMap(event => (event.t === 'service' && event.fault ? `${event.fault.type} ${event.fault.count}` : []))
}

function saidTimes({ events }: Pick<PhoneSession, 'events'>, text: string): number {
  return events().filter(event => event.t === 'text' && event.text.trim() === text).length
}

function messagesIn(body: unknown): { localId: string; content: string }[] {
  return typeof body === 'object' && body !== null && 'messages' in body && Array.isArray(body.messages) ? body.messages : []
}

function calls(packet: Packet, method: string): packet is Packet & { parts: [string, { method: string; params: string }] } {
  const [name, payload] = packet.parts
  if (packet.type !== 'event' || name !== 'rpc-call') return false
  return typeof payload === 'object' && payload !== null && 'method' in payload && String(payload.method).endsWith(`:${method}`)
}

const textOf = (read: unknown) =>
  Buffer.from(fromBase64(typeof read === 'object' && read !== null && 'content' in read ? String(read.content) : '') ?? []).toString()

t.test('a server that passes off one call as another ends no session, and the session says so [R8]', async t => {
  const { liar, wrapper, session } = await lied(t)
  liar.lies.packet = packet => {
    if (!calls(packet, 'abort')) return [packet]
    const [name, { params }] = packet.parts
    return [{ ...packet, parts: [name, { method: `${session.id}:killSession`, params }] }]
  }
  await t.rejects(session.call('abort', {}), { reason: 'failed', message: 'The call was made for a different target' })
  await session.until(session => faults(session).includes('call-astray 1'))
  await wrapper.says(/Trouble +A call was rejected: it was made for a different target/)
  liar.lies = {}
  t.match(await session.call('killSession', {}), { success: true }, 'the session is there until its person ends it')
  t.equal(await wrapper.ended, 0)
})

t.test('a call replayed by the server is rejected, and the session says so [R7]', async t => {
  const { liar, session } = await lied(t)
  let again: Packet | undefined
  liar.lies.packet = (packet, send) => {
    if (packet.direction === 'to-client' && packet.parts[0] === 'rpc-request' && !again) {
      // To the wrapper, past the server.
      again = { ...packet, id: 999_999 }
      send(packet)
      return [again]
    }
    return packet.id === 999_999 ? [] : [packet]
  }
  await session.call('setMode', { mode: session.metadata.operatingModes?.[1]?.code ?? '' })
  await session.until(session => faults(session).includes('call-repeated 1'))
})

t.test('an earlier choice delivered after a later one is rejected, and the session says so [R9]', async t => {
  const { liar, session, wrapper } = await lied(t)
  const [first = '', second = ''] = session.metadata.operatingModes?.map(({ code }) => code) ?? []
  const held: (() => void)[] = []
  liar.lies.packet = (packet, send) => {
    if (held.length > 0 || !calls(packet, 'setMode')) return [packet]
    held.push(() => send(packet))
    return []
  }
  const earlier = session.call('setMode', { mode: first })
  t.match(await session.call('setMode', { mode: second }), { mode: second })
  for (const bring of held) bring()
  await t.rejects(earlier, { reason: 'failed', message: 'The same device has made a newer choice' })
  await session.until(session => faults(session).includes('call-late 1'))
  await wrapper.says(/Trouble +A choice was ignored/)
  t.equal(session.metadata.currentOperatingModeCode, second)
  liar.lies = {}
  t.match(await session.call('setMode', { mode: first }), { mode: first }, 'and may be chosen anew')
})

t.test('when a server swaps the answers to two questions, both are rejected [R8]', async t => {
  const { liar, session, folder } = await lied(t)
  writeFileSync(join(folder, 'good.txt'), 'good')
  writeFileSync(join(folder, 'bad.txt'), 'bad')
  const asked = new Map<number, string>()
  let good: unknown[] | undefined
  liar.lies.packet = packet => {
    if (calls(packet, 'readFile') && packet.id !== undefined) asked.set(packet.id, '')
    if (packet.direction !== 'to-client' || packet.type !== 'ack' || packet.id === undefined || !asked.has(packet.id)) return [packet]
    good ??= packet.parts
    return [{ ...packet, parts: good }]
  }
  t.equal(textOf(await session.call('readFile', { path: join(folder, 'good.txt') })), 'good')
  await t.rejects(session.call('readFile', { path: join(folder, 'bad.txt') }), { name: 'CallFailed', reason: 'astray' })
})

t.test('a server cannot downgrade a client to answers without their question [R8]', async t => {
  const { liar, phone, session } = await lied(t)
  await session.call('watch', { viewer: 'phone', isWatching: true })
  // Whatever else was ever sealed with the key of the session, and says nothing.
  const bare = await phone.sealedMetadata(session.id)
  liar.lies.packet = packet => {
    const isAnswer = packet.direction === 'to-client' && packet.type === 'ack' && JSON.stringify(packet.parts).includes('"result"')
    return [isAnswer ? { ...packet, parts: [{ ok: true, result: bare }] } : packet]
  }
  await t.rejects(session.call('abort', {}), { name: 'CallFailed', reason: 'astray' })
})

t.test('a prompt that a server repeats under a new number is not executed again, and the session says so [W13]', async t => {
  const { liar, home, session } = await lied(t)
  let copied: { token: string; content: string } | undefined
  liar.lies.reply = ({ method, body, token }, reply) => {
    const content = messagesIn(body)[0]?.content
    if (method === 'POST' && content !== undefined && token !== undefined) copied ??= { token, content }
    return reply
  }
  await session.say('SCRIPT: text the cheese is bought')
  await session.until(() => saidTimes(session, 'the cheese is bought') === 1)
  const { token = '', content = '' } = copied ?? {}
  const repeat = (localId: string) =>
    fetch(`${liar.url}/v3/sessions/${session.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ localId, content }] })
    })
  t.equal((await repeat('again')).status, 200)
  await session.until(session => faults(session).includes('message-repeated 1'))
  await session.say('SCRIPT: text and the next')
  await session.until(() => saidTimes(session, 'and the next') === 1)
  t.equal(saidTimes(session, 'the cheese is bought'), 1)

  // Nor by a later process of the session.
  const known = listSessions(home).find(({ notes }) => notes.id === session.id)
  t.ok(known?.notes.hearsNames)
  await session.call('killSession', {})
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const later = runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(({ metadata }) => metadata.lifecycleState === 'running')
  t.equal((await repeat('once more')).status, 200)
  await session.until(session => faults(session).length === 2)
  t.equal(saidTimes(session, 'the cheese is bought'), 1)
  await later.kill('SIGTERM')
})

t.test('a server that swaps two prompts is detected, and the session says so [W13]', async t => {
  const { liar, session } = await lied(t)
  liar.lies.body = ({ body }) => (messagesIn(body).length === 2 ? { messages: messagesIn(body).toReversed() } : body)
  await session.sayAll(['SCRIPT: text one', 'SCRIPT: text two'])
  await session.until(session => faults(session).includes('message-late 1'))
  await session.until(() => saidTimes(session, 'one') === 1 && saidTimes(session, 'two') === 1)
})

t.test('a prompt that a server acknowledges and drops is missed at the next one, and the session says so [W13]', async t => {
  const { liar, session, wrapper } = await lied(t, { NODE_OPTIONS: `--import=${longWaits}` })
  let dropped: { localId: string } | undefined
  liar.lies.body = ({ body }) => {
    const [first, ...others] = messagesIn(body)
    if (others.length !== 1) return body
    dropped = first
    return { messages: others }
  }
  liar.lies.reply = ({ body }, reply) => {
    const [stored] = messagesIn(reply)
    if (messagesIn(body).length !== 2 || stored === undefined || dropped === undefined) return reply
    return { messages: [{ ...stored, id: 'dropped', localId: dropped.localId }, stored] }
  }
  t.equal((await session.sayAll(['SCRIPT: text dropped', 'SCRIPT: text kept'])).length, 2, 'its sender believes that both are stored')
  await session.until(() => saidTimes(session, 'kept') === 1)
  const seen = createOrder(true)
  const places = session.messages.flatMap(({ meta }) => (meta?.sealedBy ? seen.take(meta.sealedBy).type : []))
  t.ok(places.includes('after-gap'), 'an app sees it at once')
  t.strictSame(faults(session), [], 'the machine waits for it first')
  wrapper.child.kill('SIGUSR2')
  await session.until(session => faults(session).includes('message-missing 1'))
})

t.test('a prompt for one session delivered to another is not executed there [W13]', async t => {
  const { session } = await lied(t)
  // As of a session with the same key, as all of those have that were paired the old way.
  const elsewhere = session.sealedElsewhere('SCRIPT: text in the wrong place')
  await session.append(elsewhere)
  await session.until(session => faults(session).includes('message-astray 1'))
  await session.say('SCRIPT: text here')
  await session.until(() => saidTimes(session, 'here') === 1)
  t.equal(saidTimes(session, 'in the wrong place'), 0)
})

t.test('an unnamed message of an existing app is executed once, and not when a server repeats it [W13]', async t => {
  const { session } = await lied(t)
  await session.say('SCRIPT: text by ours')
  await session.until(() => saidTimes(session, 'by ours') === 1)
  const bare = session.sealedBare('SCRIPT: text by theirs')
  await session.append(bare)
  await session.until(() => saidTimes(session, 'by theirs') === 1)
  await session.append(bare)
  await session.until(session => faults(session).includes('message-repeated 1'))
  await session.say('SCRIPT: text at last')
  await session.until(() => saidTimes(session, 'at last') === 1)
  t.equal(saidTimes(session, 'by theirs'), 1)
})

t.test('a file swapped by the server does not reach the agent, and the session says so [W11]', async t => {
  const { liar, session } = await lied(t)
  const bytes = (text: string) => new TextEncoder().encode(text)
  await session.attach('safe.txt', bytes('safe'), 'text/plain')
  await session.attach('other.txt', bytes('other'), 'text/plain')
  const refs = () => session.events().flatMap(event => (event.t === 'file' ? event.ref : []))
  await session.until(() => refs().length === 2)
  const [safe = '', other = ''] = refs().map(ref => ref.split('/').at(-1) ?? '')
  liar.lies.path = path => path.replace(other, safe)
  await session.say('SCRIPT: text read')
  await session.until(session =>
    session.events().some(event => event.t === 'service' && /other\.txt could not be attached .*sent a different file/.test(event.text))
  )
  t.notOk(session.events().some(event => event.t === 'service' && /safe\.txt could not be attached/.test(event.text)))
})
