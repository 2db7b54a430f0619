import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { serveMachine } from '../../../lib/client/calls/machine-calls.ts'
import { createRest } from '../../../lib/client/link/rest.ts'
import { type LiveSocket, openSocket } from '../../../lib/client/link/socket.ts'
import { newEnvelope, newId, newUserText, sealDraft, sealPartial } from '../../../lib/client/sealed/messages.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { signIn } from '../../../lib/client/sign-in/login.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { answersOfMachine, machineAbout } from './hostile-machine.ts'
import { bodiesOf, eventsOf } from './hostile-messages.ts'
import { metadataOf, serveFolder, stateOf } from './hostile-session.ts'
import { type Evil, evilHeader } from './xss.ts'

/** A computer of the account whose agent, folder and daemon return hostile text in every field. */
export interface HostileWorld {
  readonly secret: Uint8Array
  readonly machine: string
  /** With `evil`, a session with hostile text in every field and, unless `isAsking` is false, an open request of every kind; otherwise an idle one. */
  session(evil?: Evil, about?: { isAsking: boolean; isAway?: boolean }): Promise<HostileSession>
}

export interface HostileSession {
  readonly id: string
  say(texts: readonly string[]): Promise<void>
  /** Starts a text and a thought that are still growing. */
  begin(text: string, thought: string): void
}

export async function hostileWorld(t: Test, server: { url: string; data: string }, evil: Evil): Promise<HostileWorld> {
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const setupCode = readFileSync(join(server.data, 'setup-code'), 'utf8').trim()
  const { token } = await signIn({ server: server.url, secret, setupCode, deviceName: evil('device.name').slice(0, 100), fetch })
  const rest = createRest({ server: server.url, token, fetch })
  const vault = accountVault(secret)
  const open = (scope: Parameters<typeof openSocket>[0]['scope']) => {
    const socket = openSocket({ server: server.url, token, scope, WebSocket })
    t.teardown(() => socket.close())
    return live(socket)
  }
  await rest.call('createToken', { body: { name: evil('access.name').slice(0, 100), scopes: ['manage'] } })
  await rest.call('createInvite', { body: { label: evil('invite.label').slice(0, 100) } })
  // A stranger requests an account, with a program of a hostile name.
  const named: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, 'x-happy-client': evilHeader } })
  await signIn({ server: server.url, secret: engine.randomBytes(32), fetch: named }).catch(() => {})
  const machine = crypto.randomUUID()
  const ofMachine = vault.newKey()
  // Started in the future, after it was last seen: so it counts as running, whether or not a page saw its one heartbeat.
  const daemonState = ofMachine.cipher.seal({ status: 'running', startedAt: Date.now() + 3_600_000 })
  const sealed = ofMachine.cipher.seal(machineAbout(evil))
  await rest.call('openMachine', { body: { id: machine, metadata: sealed, daemonState, dataEncryptionKey: ofMachine.wrapped } })
  let atWork: string | undefined
  const daemon = await open({ as: 'machine', id: machine })
  await serveMachine({ socket: daemon, cipher: ofMachine.cipher, machine, handlers: answersOfMachine(evil, () => atWork) }).registered
  daemon.send('machine-alive', { machineId: machine, time: Date.now() })
  // Another machine, which sends no heartbeat.
  const ofOther = vault.newKey()
  const silent = { status: 'running', startedAt: 1 }
  await rest.call('openMachine', {
    body: {
      id: crypto.randomUUID(),
      metadata: ofOther.cipher.seal(machineAbout(evil, 'silent.name')),
      daemonState: ofOther.cipher.seal(silent),
      dataEncryptionKey: ofOther.wrapped
    }
  })

  return {
    secret,
    machine,
    async session(evil, { isAsking, isAway = false } = { isAsking: true }) {
      const key = vault.newKey()
      const metadata =
        evil === undefined
          ? { path: '/home/a', host: 'a', machineId: machine }
          : { ...metadataOf(evil, machine), ...(isAway && { archivedAt: Date.now() }) }
      const body = {
        tag: newId(),
        metadata: key.cipher.seal(metadata),
        agentState: key.cipher.seal(evil === undefined ? {} : stateOf(evil, { isAsking })),
        dataEncryptionKey: key.wrapped
      }
      const { session } = await rest.call('openSession', { body })
      const socket = await open({ as: 'session', id: session.id })
      if (evil !== undefined) await serveFolder(socket, key.cipher, session.id, evil, { isClean: isAsking })
      if (!isAway) socket.send('session-alive', { sid: session.id, time: Date.now(), thinking: true, mode: 'remote' })
      const append = async (bodies: readonly Parameters<typeof sealDraft>[2][]) => {
        const messages = bodies.map(each => sealDraft(key.cipher, session.id, each))
        await rest.call('appendMessages', { params: { id: session.id }, body: { messages } })
      }
      const turn = newId()
      if (evil !== undefined && !isAway) {
        const gone = sealDraft(key.cipher, session.id, newUserText(evil('mine.gone')))
        await rest.call('appendMessages', { params: { id: session.id }, body: { messages: [gone] } })
        const withdrawn = newEnvelope({ t: 'withdraw', localId: gone.localId }, { role: 'user' })
        await append([{ role: 'session', content: { type: 'session', data: withdrawn } }, ...bodiesOf(evil), ...eventsOf(evil, turn)])
      }
      if (!isAsking && !isAway) atWork = session.id
      const partial = (text: string, thinking: boolean) =>
        socket.send('partial', { sid: session.id, partial: sealPartial(key.cipher, { turn, block: newId(), text, thinking }) })
      return {
        id: session.id,
        begin(text, thought) {
          partial(text, false)
          partial(thought, true)
        },
        say: texts => append(texts.map(text => ({ role: 'session', content: newEnvelope({ t: 'text', text }, { role: 'agent', turn }) })))
      }
    }
  }
}

function live(socket: LiveSocket): Promise<LiveSocket> {
  if (socket.state.type === 'live') return Promise.resolve(socket)
  const { promise, resolve } = Promise.withResolvers<LiveSocket>()
  const stop = socket.onState(state => {
    if (state.type !== 'live') return
    stop()
    resolve(socket)
  })
  return promise
}
