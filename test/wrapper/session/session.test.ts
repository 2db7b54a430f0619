import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BoundedQueue } from '../../../lib/async/queue.ts'
import { type Agent, AgentDied, type AgentEvent } from '../../../lib/wrapper/agents/agent.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { listSessions, readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import { startSession } from '../../../lib/wrapper/session/session.ts'
import { drawSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import { fetch } from '../../../lib/wrapper/uplink/network.ts'
import { openUplink } from '../../../lib/wrapper/uplink/uplink.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { computerWithSession } from '../kit/left-behind.ts'

t.test('what was open at the end is open on no device any more, and the session says how it ended', async t => {
  const { begin, phone, home } = await ownSession(t)
  const { session, events } = await begin()
  const device = await phone.session()
  await device.until(({ metadata }) => metadata.methods !== undefined)
  t.equal(session.status.session, device.id)
  t.match(device.metadata, { editsQueue: true })
  t.ok(device.metadata.methods?.includes('permission'))
  await device.say('one')
  await device.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  t.ok(session.status.isWorking)
  const step = { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: {}, locations: [], content: [] } as const
  const choices = [{ id: 'yes', label: 'Yes', allows: true }]
  events.offer({ type: 'permission-asked', asked: { ask: 'a', step, choices } } as unknown as AgentEvent)
  await device.until(({ state }) => state.requests?.['a'] !== undefined)
  t.match(session.status.questions, [{ title: 'make' }])
  session.end('person')
  session.end('system')
  t.strictSame(await session.ended, { how: { type: 'asked', by: 'person' }, delivered: true })
  await device.until(({ state }) => state.requests?.['a'] === undefined)
  t.match(device.state.completedRequests, { a: { status: 'canceled' } })
  await device.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const [known] = listSessions(home)
  t.match(known, { pid: undefined, notes: { endedBy: 'person', isEnding: true } })
  t.ok((known?.notes.heardUpTo ?? 0) >= (device.seqOf('one') ?? Number.NaN), 'what it heard does not resume it')
})

t.test('requests and the silence that an earlier process left on devices are over when the session goes on', async t => {
  const { begin, uplink, phone } = await ownSession(t)
  const earlier = await uplink()
  earlier.changeState(state => ({
    ...state,
    requests: { p: { tool: 'Bash', arguments: {}, createdAt: 1 } },
    modelWait: { since: 1 }
  }))
  const device = await phone.session()
  await device.until(({ state }) => state.requests?.['p'] !== undefined)
  await earlier.close()
  await begin()
  await device.until(({ state }) => state.requests?.['p'] === undefined)
  t.match(device.state, { completedRequests: { p: { status: 'canceled' } }, modelWait: undefined })
})

t.test('a session ends by itself, by its person or from elsewhere, and only a person ends it until someone writes', async t => {
  const died = new AgentDied('exit code 3', '')
  const ends = [
    [({ session }) => session.end('system'), { type: 'asked', by: 'system' }, 'itself'],
    [({ events }) => events.close(), { type: 'asked', by: 'person' }, 'person'],
    [({ events }) => events.fail(died), { type: 'agent-died', died }, 'itself'],
    [({ kill }) => kill(), { type: 'elsewhere', sentence: 'The session was ended from another device.' }, 'person']
  ] satisfies [(how: Begun & { kill(): void }) => void, object, string][]
  for (const [end, how, endedBy] of ends) {
    const { begin, phone, home } = await ownSession(t)
    const begun = await begin()
    const device = await phone.session()
    await device.until(({ metadata }) => metadata.methods !== undefined)
    end({ ...begun, kill: () => void device.call('killSession', {}) })
    t.match(await begun.session.ended, { how, delivered: true })
    t.match(listSessions(home), [{ pid: undefined, notes: { endedBy } }])
    device.close()
  }
})

t.test('the terminal shows what the agent remarks between turns, until the next one', async t => {
  const { begin, phone } = await ownSession(t)
  const { session, events, changed } = await begin()
  t.notOk(session.stopTurn(), 'there is none')
  events.offer({ type: 'notice', text: 'It has no such mode.' } as AgentEvent)
  await changed(() => session.status.note === 'It has no such mode.')
  await session.prompt('typed')
  await changed(() => session.status.isWorking)
  events.offer({ type: 'notice', text: 'Of the turn.' } as AgentEvent)
  await changed(() => session.status.note === undefined)
  const device = await phone.session()
  await device.until(({ seqOf }) => seqOf('typed') !== undefined)
  t.ok(session.stopTurn())
  await changed(() => !session.status.isWorking)
})

t.test('a session says what can be asked of it, and notes how far it heard', async t => {
  const { phone, home, begin } = await ownSession(t)
  const { session, changed } = await begin()
  await changed(() => session.status.link.type === 'live')
  const device = await phone.session()
  await device.until(({ metadata }) => metadata['editsQueue'] === true)
  const { methods } = device.metadata
  for (const method of ['abort', 'permission', 'watch']) t.ok(methods?.includes(method), method)
  t.equal(device.state.controlledByUser, false)
  await device.append(device.sealedElsewhere('forged'))
  await device.say('first')
  await changed(() => session.status.isWorking)
  await device.until(({ seqOf }) => seqOf('first') !== undefined)
  const seq = device.seqOf('first') ?? Number.POSITIVE_INFINITY
  t.ok(session.stopTurn())
  await changed(() => !session.status.isWorking)
  session.end('person')
  t.match(await session.ended, { delivered: true, how: { type: 'asked', by: 'person' } })
  const [known] = listSessions(home)
  t.match(known?.notes, { isEnding: true, endedBy: 'person' })
  t.ok((known?.notes.heardUpTo ?? 0) >= seq)
})

t.test('messages written during a turn wait for its end, and the cursor on disk follows what the agent got', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: slow 1500 one two three four five')
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text second')
  await session.say('SCRIPT: text third')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['one two three four five', 'second', 'third'])
  const [folder = ''] = readdirSync(join(home, 'sessions'))
  const third = session.seqOf('SCRIPT: text third')
  t.equal(readNotes(join(home, 'sessions', folder))?.cursor, third)
})

t.test('a session is titled by its first prompt', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: text **Apples** are in.\nThen the pears')
  await session.until(({ metadata }) => metadata.summary !== undefined)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: text second')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  const lines = drawSessions(numbered(listSessions(home)), Date.now(), styleFor({ isTTY: false }, {}), 80)
  t.match(lines[0], /SCRIPT: text Apples are in\.$/)
})

t.test('a turn is stopped from the phone, and the next message starts another', async t => {
  const { session } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  await session.say('SCRIPT: text on')
  await session.until(session => turnsEnded(session) === 2)
})

t.test('modes change by call and with a message, and every device shows the current one', async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.operatingModes !== undefined)
  t.match(
    session.metadata.operatingModes?.map(({ code }) => code),
    ['default', 'acceptEdits', 'plan']
  )
  await t.rejects(session.call('setMode', { mode: 'nonsense' }), /no such mode/)
  t.match(await session.call('setMode', { mode: 'plan' }), { mode: 'plan' })
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'plan')
  await session.say('SCRIPT: tool write {"path":"auto.txt","content":"x"}', 'acceptEdits')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(session.state.completedRequests ?? {}, {}, 'nobody was asked')
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
})

t.test('an existing app says yes and no in its own format', async t => {
  const { session, home } = await demo(t)
  for (const [answer, status, there] of [
    [{ approved: false, decision: 'denied' as const }, 'denied', false],
    [{ approved: true, decision: 'approved' as const }, 'approved', true]
  ] as const) {
    await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
    const [id = ''] = Object.keys(session.state.requests ?? {})
    t.equal(await session.call('permission', { id, ...answer }), null)
    await session.until(({ state }) => state.completedRequests?.[id]?.status === status)
    await session.until(session => session.events().some(event => event.t === 'tool-call-end' && event.call === id))
    t.equal(readdirSync(join(home, 'demo')).includes('old.txt'), there)
  }
})

t.test('a message not started when the session ended does not count as read', async t => {
  const { session, wrapper } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text too late')
  await wrapper.kill('SIGTERM')
  t.match(wrapper.output, /Everything was delivered/)
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  t.equal(session.events().filter(event => event.t === 'turn-start').length, 1)
})

t.test('the phone reads and changes files of the session’s folder, and runs commands there', async t => {
  const { session } = await demo(t)
  await session.call('writeFile', { path: 'note.txt', content: btoa('from the phone') })
  t.match(await session.call('readFile', { path: 'note.txt' }), { success: true, content: btoa('from the phone') })
  t.match(await session.call('bash', { command: 'cat note.txt', cwd: '/' }), { success: true, stdout: 'from the phone' })
  // The demo's folder has files of its own.
  await session.call('bash', { command: 'mkdir notes && cp note.txt notes', cwd: '/' })
  t.match(await session.call('listDirectory', { path: 'notes' }), { success: true, entries: [{ name: 'note.txt', type: 'file' }] })
  await t.rejects(session.call('readFile', { path: '/etc/passwd' }), /allowed/)
})

type Begun = Awaited<ReturnType<Awaited<ReturnType<typeof ownSession>>['begin']>>

/** A session in this process, whose agent says what the test lets it say. */
async function ownSession(t: Test) {
  const { server, phone, home: path, folder } = await computerWithSession(t)
  folder.note({ turn: null })
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is linked')
  return {
    phone,
    home: path,
    uplink: () => openUplink({ home, credentials, folder, fetch }),
    async begin() {
      const events = new BoundedQueue<AgentEvent>(100)
      const bell = new EventTarget()
      const over = (reason: 'cancelled') => void events.offer({ type: 'turn-ended', reason })
      const agent: Agent = {
        conversation: 'own',
        version: undefined,
        events,
        prompt: async () => true,
        answer: () => false,
        setMode: async () => false,
        cancel: async () => over('cancelled'),
        async stop() {
          over('cancelled')
          events.close()
        }
      }
      const metadata = { ...folder.notes.metadata, lifecycleState: 'running', hostPid: process.pid }
      const onChange = () => bell.dispatchEvent(new Event('change'))
      const session = await startSession({ agent, home, credentials, folder, metadata, env: {}, fetch, onChange })
      t.teardown(() => {
        session.end('system')
        return session.ended.catch(() => {})
      })
      return {
        session,
        events,
        async changed(isSo: () => boolean) {
          while (!isSo()) await once(bell, 'change')
        }
      }
    }
  }
}
