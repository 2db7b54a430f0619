import { type Cipher, dataKeyCipher, deriveContentKeypair, fromBase64Exact, legacyCipher, unwrapDataKey } from '../../lib/crypto/index.ts'
import { daemonState, machineMetadata } from '../../lib/protocol/sealed/machine.ts'
import { messageBody } from '../../lib/protocol/sealed/messages.ts'
import { agentState, sessionMetadata } from '../../lib/protocol/sealed/session.ts'
import { ephemeral } from '../../lib/protocol/wire/ephemerals.ts'
import type { MachineRecord, MessageRecord, SessionRecord } from '../../lib/protocol/wire/records.ts'
import { update } from '../../lib/protocol/wire/updates.ts'
import * as v from '../../lib/schema.ts'

/** A message as the phone shows it. */
export interface Said {
  id: string
  seq: number
  body: v.InferOutput<typeof messageBody>
}

export interface PhoneSession {
  id: string
  cipher: Cipher
  metadata: v.InferOutput<typeof sessionMetadata>
  agentState: v.InferOutput<typeof agentState> | undefined
  active: boolean
  thinking: boolean
  /** In the order in which they arrived live. */
  said: Said[]
}

export interface PhoneMachine {
  id: string
  cipher: Cipher
  metadata: v.InferOutput<typeof machineMetadata>
  daemonState: v.InferOutput<typeof daemonState> | undefined
  active: boolean
}

/** What a phone knows and can open. Every change happens in place: whoever holds a session or a machine sees it change. */
export class Memory {
  readonly sessions = new Map<string, PhoneSession>()
  readonly machines = new Map<string, PhoneMachine>()
  /** After a cut messages come twice, and from two sides. */
  isCatchingUp = false
  readonly #secret: Uint8Array

  constructor(secret: Uint8Array) {
    this.#secret = secret
  }

  /** Takes in an `update`; throws when it does not fit the wire, cannot be opened, or comes out of its turn. */
  hearUpdate(frame: unknown): void {
    const { body } = v.parse(update, frame)
    switch (body.t) {
      case 'new-session':
        this.keepSession(body)
        return
      case 'update-session': {
        const session = this.session(body.id)
        if (body.metadata) session.metadata = open(session.cipher, body.metadata.value, sessionMetadata)
        if (body.agentState) session.agentState = openOptional(session.cipher, body.agentState.value, agentState)
        return
      }
      case 'delete-session':
        this.sessions.delete(body.sid)
        return
      case 'new-message': {
        const isNext = body.message.seq === (this.session(body.sid).said.at(-1)?.seq ?? 0) + 1
        if (!isNext && !this.isCatchingUp) throw new Error('A message came out of its turn.')
        this.keepMessage(body.sid, this.openMessage(body.sid, body.message))
        return
      }
      case 'new-machine':
        this.keepMachine({ ...body, id: body.machineId })
        return
      case 'update-machine': {
        const machine = this.machines.get(body.machineId)
        if (!machine) throw new Error(`The phone knows no machine ${body.machineId}.`)
        if (body.metadata) machine.metadata = open(machine.cipher, body.metadata.value, machineMetadata)
        if (body.daemonState) machine.daemonState = openOptional(machine.cipher, body.daemonState.value, daemonState)
        return
      }
      case 'delete-machine':
        this.machines.delete(body.machineId)
        return
      case 'update-account':
        return
    }
  }

  hearEphemeral(frame: unknown): void {
    const news = v.parse(ephemeral, frame)
    switch (news.type) {
      case 'activity': {
        const session = this.sessions.get(news.id)
        if (session) Object.assign(session, { active: news.active, thinking: news.thinking })
        return
      }
      case 'machine-activity': {
        const machine = this.machines.get(news.id)
        if (machine) machine.active = news.active
        return
      }
      case 'partial':
      case 'device-came':
      case 'pairing-fetched-twice':
        throw new Error(`An app of Happy was sent ${news.type}, which only our clients know.`)
    }
  }

  keepSession(record: SessionRecord): void {
    const cipher = this.#cipherOf(record.dataEncryptionKey)
    const known = this.sessions.get(record.id)
    const fields = {
      id: record.id,
      cipher,
      metadata: open(cipher, record.metadata, sessionMetadata),
      agentState: openOptional(cipher, record.agentState, agentState),
      active: record.active
    }
    this.sessions.set(record.id, Object.assign(known ?? { thinking: false, said: [] }, fields))
  }

  keepMachine(record: MachineRecord): void {
    const cipher = this.#cipherOf(record.dataEncryptionKey)
    const fields = {
      id: record.id,
      cipher,
      metadata: open(cipher, record.metadata, machineMetadata),
      daemonState: openOptional(cipher, record.daemonState, daemonState),
      active: record.active
    }
    this.machines.set(record.id, Object.assign(this.machines.get(record.id) ?? {}, fields))
  }

  keepMessage(id: string, message: Said): void {
    const { said } = this.session(id)
    if (said.some(({ id }) => id === message.id)) return
    said.push(message)
    said.sort((a, b) => a.seq - b.seq)
  }

  session(id: string): PhoneSession {
    const session = this.sessions.get(id)
    if (!session) throw new Error(`The phone knows no session ${id}.`)
    return session
  }

  openMessage(session: string, { id, seq, content }: MessageRecord): Said {
    return { id, seq, body: open(this.session(session).cipher, content.c, messageBody) }
  }

  #cipherOf(wrapped: string | null): Cipher {
    if (wrapped === null) return legacyCipher(this.#secret)
    const key = unwrapDataKey(wrappedKeyOf(wrapped), deriveContentKeypair(this.#secret).secretKey)
    if (!key) throw new Error('This data key was not wrapped for our account.')
    return dataKeyCipher(key)
  }
}

/** What was sealed, as the schema wants it; throws when either fails. */
export function open<Schema extends v.GenericSchema>(cipher: Cipher, sealed: string, schema: Schema): v.InferOutput<Schema> {
  const opened = cipher.open(sealed)
  if (!opened.ok) throw new Error('The phone cannot open this.')
  return v.parse(schema, opened.value)
}

function openOptional<Schema extends v.GenericSchema>(
  cipher: Cipher,
  sealed: string | null,
  schema: Schema
): v.InferOutput<Schema> | undefined {
  return sealed === null ? undefined : open(cipher, sealed, schema)
}

function wrappedKeyOf(text: string): Uint8Array {
  const wrapped = fromBase64Exact(text, 105)
  if (!wrapped) throw new Error('A wrapped data key has 105 bytes.')
  return wrapped
}
