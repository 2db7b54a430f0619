import { once } from 'node:events'
import type { Test } from 'tap'
import { callSession } from '../../../lib/client/calls/calls.ts'
import { callMachine } from '../../../lib/client/calls/machine-calls.ts'
import { openFeed } from '../../../lib/client/feed/feed.ts'
import { watchSession } from '../../../lib/client/feed/session-watch.ts'
import { createRest } from '../../../lib/client/link/rest.ts'
import { type LiveSocket, openSocket } from '../../../lib/client/link/socket.ts'
import { downloadAttachment, uploadAttachment } from '../../../lib/client/outbox/attachments.ts'
import { createPartialReader } from '../../../lib/client/outbox/partials.ts'
import type { Pin } from '../../../lib/client/sealed/call-seals.ts'
import { envelopeOf, newEnvelope, newId, newUserText, openMessage, openPartial, sealDraft } from '../../../lib/client/sealed/messages.ts'
import { createNumbers } from '../../../lib/client/sealed/numbers.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { lookAtRequest, readRequestLink } from '../../../lib/client/sign-in/linking.ts'
import { signIn } from '../../../lib/client/sign-in/login.ts'
import { answerPairing, readLink } from '../../../lib/client/sign-in/pairing.ts'
import {
  type Cipher,
  cryptoReady,
  deriveContentKeypair,
  engine,
  fromBase64,
  openBlob,
  sealBlob,
  sealOfBlob,
  sessionBlobKey,
  unwrapDataKey
} from '../../../lib/crypto/index.ts'
import type { ParamsOfCall, SessionCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { MachineCall, ParamsOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { type DaemonState, daemonState, type MachineMetadata, machineMetadata } from '../../../lib/protocol/sealed/machine.ts'
import type { MessageBody, MessageMeta, PartialBody, SessionEvent } from '../../../lib/protocol/sealed/messages.ts'
import { type AgentState, agentState, type SessionMetadata, sessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import type { MessageReceipt } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'

/** A device of the account, built on the client library like the app, without a screen. */
export interface Phone {
  readonly secret: Uint8Array
  readonly token: string
  /** Answers the code that a terminal shows, with the digits beside it where it has some; several are typed one after the other. */
  pair(link: string, checkCodes?: string | readonly string[]): Promise<void>
  /** The newest session, or the first that appears; of those not named. */
  session(but?: readonly string[]): Promise<PhoneSession>
  /** The first computer of the account that is there. */
  machine(): Promise<PhoneMachine>
  /** What the server has of it, unopened. */
  sealedMetadata(session: string): Promise<string>
  sessions(): Promise<{ id: string; active: boolean; activeAt: number; metadata: SessionMetadata; state: AgentState | undefined }[]>
}

export interface PhoneSession {
  readonly id: string
  /** Everything in order, opened. */
  readonly messages: MessageBody[]
  readonly partials: PartialBody[]
  readonly state: AgentState
  readonly metadata: SessionMetadata
  events(): SessionEvent[]
  /** Of the message in which a person wrote this. */
  seqOf(text: string): number | undefined
  /** `how` is a mode, or all that is wished with it. Resolves to its local id. */
  say(text: string, how?: string | MessageMeta): Promise<string>
  /** Sealed by this device for another session, and by an app that does not say who it is. */
  sealedElsewhere(text: string): string
  sealedBare(text: string): string
  /** What is sealed already, under a new local id. */
  append(content: string): Promise<void>
  /** The same of several at once, which leave together; resolves to what the server says of each. */
  sayAll(texts: readonly string[]): Promise<readonly MessageReceipt[]>
  /** What a device tells beside texts, wrapped as existing apps do. */
  tell(ev: SessionEvent): Promise<void>
  /** Seals and uploads it, and announces it. */
  attach(name: string, bytes: Uint8Array, mimeType?: string): Promise<void>
  /** What was sent beside the messages, opened; undefined when it cannot be. */
  open(ref: string): Promise<Uint8Array | undefined>
  call<Name extends SessionCall>(method: Name, params: ParamsOfCall<Name>): Promise<unknown>
  /** Resolves when it is so; asked again whenever something arrives. */
  until(what: (session: PhoneSession) => boolean): Promise<void>
  close(): void
}

export interface PhoneMachine {
  readonly id: string
  /** What its daemon says of itself now. */
  state(): Promise<DaemonState | undefined>
  metadata(): Promise<MachineMetadata | undefined>
  call<Name extends MachineCall>(method: Name, params: ParamsOfMachineCall<Name>): Promise<unknown>
  /** Resolves when it is so; asked again at each update of the account. */
  until(what: () => Promise<boolean>): Promise<void>
}

export async function startPhone(t: Pick<Test, 'teardown'>, server: { url: string }, known?: Uint8Array): Promise<Phone> {
  await cryptoReady()
  const secret = known ?? engine.randomBytes(32)
  const { token } = await signIn({ server: server.url, secret, fetch })
  const rest = createRest({ server: server.url, token, fetch })
  const vault = accountVault(secret)
  const socket = openSocket({ server: server.url, token, scope: { as: 'app' }, WebSocket })
  t.teardown(() => socket.close())
  await live(socket)

  const list = async () => (await rest.call('listSessions', {})).sessions
  const cipherOf = (key: string | null): Cipher => {
    const cipher = vault.openKey(key)
    if (!cipher) throw new Error('the session is sealed for somebody else')
    return cipher
  }
  return {
    secret,
    token,
    async pair(link, checkCodes = []) {
      const request = readRequestLink(link)
      if (request) {
        const view = await lookAtRequest({ rest, vault, link: request })
        if (view.type !== 'waiting') throw new Error(`the request does not wait: ${view.type}`)
        for (const code of [checkCodes].flat()) await view.approval.approve(code)
        return
      }
      const read = readLink(link)
      if (!read) throw new Error(`this is no link: ${link}`)
      await answerPairing({ rest, vault, publicKey: read.publicKey, supportsV2: true })
    },
    async sealedMetadata(session) {
      const row = (await list()).find(({ id }) => id === session)
      if (!row) throw new Error('no such session')
      return row.metadata
    },
    async sessions() {
      return (await list()).map(({ id, active, activeAt, dataEncryptionKey, metadata, agentState: state }) => {
        const cipher = cipherOf(dataEncryptionKey)
        return {
          id,
          active,
          activeAt,
          metadata: read(cipher, metadata, sessionMetadata),
          state: state === null ? undefined : read(cipher, state, agentState)
        }
      })
    },
    async machine() {
      const find = async () => (await rest.call('listMachines', {}))[0]
      const first = await find()
      if (!first) throw new Error('no computer is known')
      const cipher = cipherOf(first.dataEncryptionKey)
      return {
        id: first.id,
        async state() {
          const value = (await find())?.daemonState
          return value ? read(cipher, value, daemonState) : undefined
        },
        async metadata() {
          const value = (await find())?.metadata
          return value ? read(cipher, value, machineMetadata) : undefined
        },
        call: (method, params) => callMachine(socket, cipher, first.id, method, params),
        async until(what) {
          const bell = new EventTarget()
          const stop = socket.onUpdate(() => bell.dispatchEvent(new Event('news')))
          for (;;) {
            const news = once(bell, 'news')
            if (await what()) break
            await news
          }
          stop()
        }
      }
    },
    async session(but = []) {
      const find = async () => (await list()).find(({ id }) => !but.includes(id))
      let record = await find()
      while (!record) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const stop = socket.onUpdate(({ body }) => body.t === 'new-session' && resolve())
        record = await find()
        if (!record) await promise
        stop()
        record = await find()
      }
      const { id, dataEncryptionKey } = record
      const cipher = { ...cipherOf(record.dataEncryptionKey), pin: newPin(), numbers: createNumbers(id) }
      const bell = new EventTarget()
      const ring = () => bell.dispatchEvent(new Event('news'))
      const cells = {
        state: { value: record.agentState === null ? {} : read(cipher, record.agentState, agentState), version: record.agentStateVersion },
        metadata: { value: read(cipher, record.metadata, sessionMetadata), version: record.metadataVersion }
      }
      const take = (news: { state?: Sealed | undefined; metadata?: Sealed | undefined }) => {
        const { state, metadata } = news
        if (state?.value && state.version > cells.state.version) cells.state = { ...state, value: read(cipher, state.value, agentState) }
        if (metadata?.value && metadata.version > cells.metadata.version)
          cells.metadata = { ...metadata, value: read(cipher, metadata.value, sessionMetadata) }
        ring()
      }
      const messages: MessageBody[] = []
      const seqs: number[] = []
      const partials: PartialBody[] = []
      const reader = createPartialReader(() => {})
      const stops = [
        socket.onUpdate(({ body }) => {
          if (body.t !== 'update-session' || body.id !== id) return
          take({ state: body.agentState, metadata: body.metadata })
        }),
        socket.onEphemeral(ephemeral => {
          if (ephemeral.type !== 'partial' || ephemeral.sid !== id) return
          const frame = openPartial(cipher, ephemeral.partial)
          const partial = frame && reader.take(frame)
          if (partial) partials.push(partial)
          ring()
        })
      ]
      // What it misses while its server is away.
      const watch = watchSession({
        rest,
        socket,
        session: id,
        onRow: row =>
          take({
            state: { value: row.agentState, version: row.agentStateVersion },
            metadata: { value: row.metadata, version: row.metadataVersion }
          }),
        onRemoved: ring
      })
      const feed = openFeed({
        rest,
        socket,
        session: id,
        after: 0,
        onMessages(records) {
          for (const record of records) {
            const opened = openMessage(cipher, record)
            if (!opened.ok) continue
            messages.push(opened.body)
            seqs.push(record.seq)
          }
          ring()
        }
      })
      const close = () => {
        feed.close()
        watch.close()
        for (const stop of stops) stop()
      }
      t.teardown(close)
      const append = async (body: MessageBody) => {
        const { localId, content } = sealDraft(cipher, id, body)
        await rest.call('appendMessages', { params: { id }, body: { messages: [{ localId, content }] } })
        return localId
      }
      const blobKey = () => {
        const raw = dataEncryptionKey && unwrapDataKey(fromBase64(dataEncryptionKey) ?? secret, deriveContentKeypair(secret).secretKey)
        return sessionBlobKey(raw || secret)
      }
      const self: PhoneSession = {
        id,
        messages,
        partials,
        get state() {
          return cells.state.value
        },
        get metadata() {
          return cells.metadata.value
        },
        events: () => messages.flatMap(body => envelopeOf(body)?.ev ?? []),
        seqOf: text => seqs[messages.findIndex(({ role, content }) => role === 'user' && content.text === text)],
        say: (text, how) => append(newUserText(text, typeof how === 'string' ? { permissionMode: how } : how)),
        sealedElsewhere: text => sealDraft({ ...cipher, numbers: createNumbers('another') }, id, newUserText(text)).content,
        sealedBare: text => cipher.seal(newUserText(text)),
        async append(content) {
          await rest.call('appendMessages', { params: { id }, body: { messages: [{ localId: newId(), content }] } })
        },
        async sayAll(texts) {
          const drafts = texts.map(text => sealDraft(cipher, id, newUserText(text)))
          const body = { messages: drafts.map(({ localId, content }) => ({ localId, content })) }
          return (await rest.call('appendMessages', { params: { id }, body })).messages
        },
        async tell(ev) {
          await append({ role: 'session', content: { type: 'session', data: newEnvelope(ev, { role: 'user' }) } })
        },
        async open(ref) {
          return openBlob(await downloadAttachment({ rest, token, fetch }, ref), blobKey()) ?? undefined
        },
        async attach(name, bytes, mimeType) {
          const sealed = sealBlob(bytes, blobKey())
          const ref = await uploadAttachment({ rest, token, fetch }, id, sealed)
          await self.tell({
            t: 'file',
            ref,
            seal: sealOfBlob(sealed),
            name,
            size: sealed.length,
            ...(mimeType !== undefined && { mimeType })
          })
        },
        call: (method, params) => callSession(socket, cipher, id, method, params),
        async until(what) {
          while (!what(self)) await once(bell, 'news')
        },
        close
      }
      return self
    }
  }
}

function live(socket: LiveSocket): Promise<void> {
  if (socket.state.type === 'live') return Promise.resolve()
  return new Promise(resolve => {
    const stop = socket.onState(state => {
      if (state.type !== 'live') return
      stop()
      resolve()
    })
  })
}

/** For as long as the device is on. */
function newPin(): Pin {
  let isSet = false
  return {
    get isSet() {
      return isSet
    },
    set() {
      isSet = true
    }
  }
}

interface Sealed {
  value: string | null
  version: number
}

function read<Value>(cipher: Cipher, sealed: string, schema: v.GenericSchema<unknown, Value>): Value {
  const opened = cipher.open(sealed)
  if (!opened.ok) throw new Error('sealed with another key')
  return v.parse(schema, opened.value)
}
