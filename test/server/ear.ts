import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import type { CloseReason, Connection } from '../../lib/server/hub/connection.ts'
import type { Frame } from '../../lib/server/hub/frames.ts'
import type { StoredRows } from '../../lib/server/hub/stored-change.ts'
import type { Untyped } from '../kit/person.ts'

export const account = v.parse(ids.accountId, 'ada')

/** What a hub reads where nothing is stored. */
export const emptyStore: StoredRows = {
  readMessages: async () => 'missing',
  findSession: async () => 'missing',
  findMachine: async () => 'missing',
  findArtifact: async () => 'missing',
  readKv: async () => [],
  readSettings: async () => ({ version: 0, value: null }),
  readClocks: async () => new Map(),
  changesSince: async () => ({ complete: false, epoch: '', clock: 0 })
}

/** A connection as the hub sees one, which keeps what it was sent. */
export class Ear implements Connection {
  readonly id: Connection['id']
  readonly account: Connection['account']
  token = v.parse(ids.tokenId, 't')
  scope: Connection['scope'] = 'app'
  isPresent = true
  readsAfieldEvents = true
  watchedUntil = Number.NEGATIVE_INFINITY
  takesPartials = true
  readonly frames: Untyped[] = []
  readonly #names: string[] = []
  readonly asked: unknown[] = []
  answer = (_: unknown) => {}
  closedFor: CloseReason | undefined
  #wake = () => {}

  constructor(id: string = crypto.randomUUID(), of: Connection['account'] = account) {
    this.id = v.parse(ids.connectionId, id)
    this.account = of
  }

  send(frame: Frame): void {
    if (this.closedFor !== undefined) return
    const [name, body] = JSON.parse((typeof frame === 'string' ? frame : frame.bytes.toString()).slice(2))
    this.frames.push(body)
    this.#names.push(name)
    this.#wake()
  }

  ask(_event: string, body: unknown, onReply: (reply: unknown) => void): () => void {
    this.asked.push(body)
    this.answer = onReply
    return () => {}
  }

  close(reason: CloseReason): void {
    this.closedFor = reason
    this.#wake()
  }

  /** What it was sent by events of this name. */
  told(name: string): Untyped[] {
    return this.frames.filter((_, at) => this.#names[at] === name)
  }

  get seqs(): number[] {
    return this.frames.filter(({ body }) => body.t === 'new-message').map(({ body }) => body.message.seq)
  }

  async heard(count: number): Promise<void> {
    while (this.seqs.length < count && this.closedFor === undefined) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }
}
