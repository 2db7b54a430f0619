import t, { type Test } from 'tap'
import { BoundedQueue } from '../../../lib/async/queue.ts'
import type { Fetch } from '../../../lib/client/link/rest.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import type { Agent, AgentEvent, UnsentHistory } from '../../../lib/wrapper/agents/agent.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { listSessions, reopen } from '../../../lib/wrapper/home/session-folder.ts'
import { type Session, startSession } from '../../../lib/wrapper/session/session.ts'
import { fetch } from '../../../lib/wrapper/uplink/network.ts'
import { signUp } from '../../kit/person.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import type { PhoneSession } from '../kit/phone.ts'

t.test('the last state of an earlier run does not end the resumed one, however long it takes to send', async t => {
  const { session, resume } = await endedSession(t)
  const events = Array.from({ length: 40 }, (_, index) => line(index))
  const resumed = await resume({ unsent: { events, upTo: undefined } })
  await session.until(session => texts(session).includes('line 39'))
  await goesOn(t, session, resumed)
})

t.test('a device that names a session while it is resumed does not end it', async t => {
  const { session, resume, write } = await endedSession(t)
  const resumed = await resume({ whenOpened: () => write({ ...session.metadata, name: 'Apples' }) })
  await goesOn(t, session, resumed)
  t.equal(session.metadata.name, 'Apples')
})

t.test('a resumed session ends when it is archived again', async t => {
  const { session, resume, write } = await endedSession(t)
  const resumed = await resume()
  await session.until(({ metadata }) => metadata.lifecycleState === 'running')
  await write({ ...session.metadata, lifecycleState: 'archiveRequested' })
  t.match(await resumed.ended, { how: { type: 'elsewhere', sentence: /archived on another device/ } })
})

t.test('a session whose agent cannot be stopped is delivered and closed all the same, and then reports why', async t => {
  const { session, resume } = await endedSession(t)
  const agent = { ...quietAgent(), stop: () => Promise.reject(new Error('the agent cannot be stopped')) }
  const resumed = await resume({ agent })
  await session.until(({ metadata }) => metadata.lifecycleState === 'running')
  resumed.end('person')
  await t.rejects(resumed.ended, { message: 'the agent cannot be stopped' })
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
})

async function goesOn(t: Test, session: PhoneSession, resumed: Session): Promise<void> {
  await session.until(({ metadata }) => metadata.lifecycleState === 'running')
  resumed.end('person')
  t.match(await resumed.ended, { how: { type: 'asked', by: 'person' } })
}

const line = (index: number): AgentEvent => ({ type: 'text', block: `b${index}`, text: `line ${index}`, thinking: false })

/** One that the server knows as archived, and what it takes to go on with it in this process. */
async function endedSession(t: Test) {
  const { server, phone, home, wrapper, session } = await demo(t, ['SCRIPT: text first'])
  await session.until(session => turnsEnded(session) === 1)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const app = await signUp(t, server, phone.secret)
  const socket = await app.connect()
  return {
    session,
    /** As another device does. */
    async write(metadata: object): Promise<void> {
      for (let result = ''; result !== 'success'; ) {
        const [{ id: sid, metadataVersion: expectedVersion, dataEncryptionKey }] = (await app.call('GET', '/v1/sessions')).body.sessions
        const sealed = accountVault(phone.secret).openKey(dataEncryptionKey)?.seal(metadata)
        result = (await socket.emitWithAck('update-metadata', { sid, metadata: sealed, expectedVersion })).result
      }
    },
    async resume({
      agent = quietAgent(),
      unsent,
      whenOpened
    }: {
      agent?: Agent
      unsent?: UnsentHistory
      whenOpened?: () => Promise<void>
    } = {}): Promise<Session> {
      const known = listSessions(home)[0]
      const folder = known && reopen(known)
      const own = openHome({ AFIELD_HOME: home })
      const credentials = own.credentials(server.url)
      if (!folder || !credentials) throw new Error('it cannot be resumed')
      const fetchAnd: Fetch = async (url, how) => {
        const response = await fetch(url, how)
        if (how?.method === 'POST' && new URL(String(url)).pathname === '/v1/sessions') await whenOpened?.()
        return response
      }
      const metadata = { ...folder.notes.metadata, lifecycleState: 'running', hostPid: process.pid }
      const resumed = await startSession({
        agent,
        home: own,
        credentials,
        folder,
        unsent,
        metadata,
        env: {},
        fetch: fetchAnd,
        onChange() {}
      })
      t.teardown(() => {
        resumed.end('system')
        return resumed.ended.catch(() => {})
      })
      return resumed
    }
  }
}

function quietAgent(): Agent {
  const events = new BoundedQueue<AgentEvent>(10)
  return {
    conversation: 'quiet',
    version: undefined,
    events,
    prompt: async () => true,
    answer: () => false,
    setMode: async () => false,
    cancel: async () => {},
    stop: async () => events.close()
  }
}
