import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { signIn } from '../../../lib/client/login.ts'
import { serveMachine } from '../../../lib/client/machine-calls.ts'
import { newEnvelope, newId, sealDraft } from '../../../lib/client/messages.ts'
import { createRest } from '../../../lib/client/rest.ts'
import { type LiveSocket, openSocket } from '../../../lib/client/socket.ts'
import { accountVault } from '../../../lib/client/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { answersOfMachine, machineAbout } from './hostile-machine.ts'
import { bodiesOf, eventsOf } from './hostile-messages.ts'
import { metadataOf, serveFolder, stateOf } from './hostile-session.ts'
import { type Evil, evilHeader } from './xss.ts'

/** A computer of the account whose agent, folder and helper say nothing but what they are given. */
export interface HostileWorld {
  readonly secret: Uint8Array
  readonly machine: string
  /** A session whose every word is evil, and that asks for every kind of decision unless told; or, without, a quiet one. */
  session(evil?: Evil, asks?: { isAsking: boolean }): Promise<HostileSession>
}

export interface HostileSession {
  readonly id: string
  say(texts: readonly string[]): Promise<void>
}

export async function hostileWorld(t: Test, server: { url: string; data: string }, evil: Evil): Promise<HostileWorld> {
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const setupCode = readFileSync(join(server.data, 'setup-code'), 'utf8').trim()
  const { token } = await signIn({ server: server.url, secret, setupCode, deviceName: evil('device.name').slice(0, 100), fetch })
  const rest = createRest({ server: server.url, token, fetch })
  const vault = accountVault(secret)
  const open = (scope: Parameters<typeof openSocket>[0]['scope']) => {
    const socket = openSocket({ server: server.url, token, scope })
    t.teardown(() => socket.close())
    return live(socket)
  }
  await rest.call('createToken', { body: { name: evil('access.name').slice(0, 100), scopes: ['manage'] } })
  await rest.call('createInvite', { body: { label: evil('invite.label').slice(0, 100) } })
  // Somebody else asks to be let in, by a program that names itself so.
  const named: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, 'x-happy-client': evilHeader } })
  await signIn({ server: server.url, secret: engine.randomBytes(32), fetch: named }).catch(() => {})
  const machine = crypto.randomUUID()
  const ofMachine = vault.newKey()
  const daemonState = ofMachine.cipher.seal({ status: 'running', startedAt: Date.now() })
  const sealed = ofMachine.cipher.seal(machineAbout(evil))
  await rest.call('openMachine', { body: { id: machine, metadata: sealed, daemonState, dataEncryptionKey: ofMachine.wrapped } })
  const helper = await open({ as: 'machine', id: machine })
  await serveMachine({ socket: helper, cipher: ofMachine.cipher, machine, handlers: answersOfMachine(evil) }).registered
  helper.send('machine-alive', { machineId: machine, time: Date.now() })

  return {
    secret,
    machine,
    async session(evil, { isAsking } = { isAsking: true }) {
      const key = vault.newKey()
      const metadata = evil === undefined ? { path: '/home/a', host: 'a', machineId: machine } : metadataOf(evil, machine)
      const body = {
        tag: newId(),
        metadata: key.cipher.seal(metadata),
        agentState: key.cipher.seal(evil === undefined ? {} : stateOf(evil, { isAsking })),
        dataEncryptionKey: key.wrapped
      }
      const { session } = await rest.call('openSession', { body })
      const socket = await open({ as: 'session', id: session.id })
      if (evil !== undefined) await serveFolder(socket, key.cipher, session.id, evil)
      socket.send('session-alive', { sid: session.id, time: Date.now(), thinking: true, mode: 'remote' })
      const append = async (bodies: readonly Parameters<typeof sealDraft>[2][]) => {
        const messages = bodies.map(each => sealDraft(key.cipher, session.id, each))
        await rest.call('appendMessages', { params: { id: session.id }, body: { messages } })
      }
      const turn = newId()
      if (evil !== undefined) await append([...bodiesOf(evil), ...eventsOf(evil, turn)])
      return {
        id: session.id,
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
