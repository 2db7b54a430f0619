import { CannotStart } from '../exit.ts'
import * as ids from '../protocol/wire/ids.ts'
import { amounts } from '../protocol/wire/records.ts'
import * as v from '../schema.ts'
import { newId } from '../server/ids.ts'
import { checksumOf } from '../store/checksum.ts'
import { lastPossibleSeq } from '../store/drafts.ts'
import type { HappyAccount, HappyDatabase, HappyMessage, HappySession } from '../store/happy.ts'
import { type Transfer, type TransferRow, transferRows, transferTable } from '../store/transfer.ts'
import { attachmentsIn, type Bucket } from './bucket.ts'

export const importedKinds = [
  'accounts',
  'sessions',
  'messages',
  'machines',
  'artifacts',
  'access keys',
  'values',
  'usage reports',
  'push tokens',
  'attachments'
] as const
export type ImportedKind = (typeof importedKinds)[number]

export interface ImportReport {
  counts: Record<ImportedKind, { imported: number; leftOut: number }>
  /** Sentences about what was left out or changed. */
  remarks: string[]
}

export interface ImportDeps {
  from: HappyDatabase
  to: Transfer
  bucket: Bucket | undefined
  /** Whether nothing is written, and everything else happens. */
  isCheck: boolean
  /** The id of the account that becomes the owner if the store has none; by default the oldest. */
  owner: string | undefined
  tell(progress: { accounts: number; messages: number }): void
  signal: AbortSignal
}

/**
 * Copies the accounts of a Happy server with everything that this server has too, sealed as it is. Each account is stored
 * whole or not at all, and one that the store already has is left alone, so another run goes on after the last.
 */
export async function importAccounts(deps: ImportDeps): Promise<ImportReport> {
  const run = new Import(deps)
  return run.all()
}

class Import {
  readonly #deps: ImportDeps
  readonly #to: Pick<Transfer, 'write'>
  readonly #report: ImportReport
  #keys: Record<string, number> = {}

  constructor(deps: ImportDeps) {
    this.#deps = deps
    this.#to = deps.isCheck ? { write: async () => {} } : deps.to
    this.#report = {
      counts: Object.fromEntries(importedKinds.map(kind => [kind, { imported: 0, leftOut: 0 }])) as ImportReport['counts'],
      remarks: []
    }
  }

  async all(): Promise<ImportReport> {
    const { from, to, tell } = this.#deps
    this.#keys = { ...(await to.lastKeys()) }
    const known = await knownAccounts(to)
    const owner = known.hasOwner ? undefined : await this.#findOwner(known)
    for await (const account of from.accounts()) {
      this.#stopIfAsked()
      const flaw = flawOfAccount(account, known)
      if (flaw) this.#leaveOut('accounts', `Account ${account.id}`, flaw)
      else await this.#whole(() => this.#importAccount(account, account.id === owner))
      tell({ accounts: this.#count('accounts'), messages: this.#count('messages') })
    }
    return this.#report
  }

  #stopIfAsked(): void {
    if (this.#deps.signal.aborted) throw new CannotStart('Stopped. Run the same command again to go on with the next account.', interrupted)
  }

  #count(kind: ImportedKind): number {
    const { imported, leftOut } = this.#report.counts[kind]
    return imported + leftOut
  }

  #whole(run: () => Promise<void>): Promise<void> {
    const { isCheck, to } = this.#deps
    if (isCheck) return run()
    return to.atomically(async () => {
      await run()
      await to.continueAfter(this.#keys)
    })
  }

  async #findOwner(known: Known): Promise<string | undefined> {
    const { from, owner } = this.#deps
    let oldest: string | undefined
    for await (const account of from.accounts()) {
      if (flawOfAccount(account, known)) continue
      oldest ??= account.id
      if (account.id === owner) return owner
    }
    if (owner !== undefined) throw new CannotStart(`There is no account ${owner} to become the owner.`)
    if (oldest !== undefined) this.#remark(`Account ${oldest}, the oldest, becomes the owner of this server; choose another with --owner.`)
    return oldest
  }

  // Messages and pieces of attachments reference no other row, so they come first, and the counters of their session and account
  // are then known when these are stored.
  async #importAccount(account: HappyAccount, isOwner: boolean): Promise<void> {
    const { from } = this.#deps
    const key = this.#newKey('account')
    const sessions = new Map<string, StoredSession>()
    for await (const session of from.sessions(account.id)) {
      const flaw = flawOfSession(session)
      if (flaw) {
        this.#leaveOut('sessions', `Session ${session.id}`, `${flaw}; so are its messages`)
        continue
      }
      const stored = await this.#storeMessages(key, session)
      sessions.set(session.id, { ...stored, attachments: await this.#storeAttachments(key, session.id, stored.key) })
    }
    const clock = new Clock(account.seq)
    const rest = await this.#readRest(account, key, sessions, clock)
    const all = [...sessions.values()]
    await this.#write('account', [
      {
        ...{ key, id: account.id, public_key: account.publicKey.toUpperCase(), role: isOwner ? 'owner' : 'member' },
        ...{ clock: clock.now + sessions.size, forgotten_clock: account.seq },
        ...{ messages: sum(all, ({ count }) => count), bytes: sum(all, ({ bytes }) => bytes) },
        ...{ attachment_bytes: sum(all, ({ attachments }) => sum(attachments, ({ size }) => Number(size))) },
        ...{ artifact_bytes: sum(rest['artifact'] ?? [], ({ bytes }) => Number(bytes)) },
        ...{ legacy_login: 'on', legacy_logins: 0, created_at: account.createdAt }
      }
    ])
    await this.#storeSessions(account, key, sessions, clock)
    for (const [name, rows] of Object.entries(rest)) await this.#write(name, rows)
    for (const { attachments } of all) await this.#write('attachment', attachments)
    this.#report.counts.accounts.imported += 1
  }

  async #storeMessages(account: number, session: HappySession): Promise<StoredMessages> {
    const key = this.#newKey('session')
    const stored = { key, lastSeq: 0, count: 0, bytes: 0 }
    let moved = 0
    const localIds = new Set<string>()
    const rows = new Batch(rows => this.#write('message', rows))
    for await (const message of this.#deps.from.messages(session.id)) {
      const sealed = sealedOf(message)
      const seq = Math.max(stored.lastSeq + 1, message.seq)
      if (sealed === undefined || seq > lastPossibleSeq) {
        const flaw = sealed === undefined ? 'it is not a sealed text of at most 32 MiB' : 'no number is left in its session'
        this.#leaveOut('messages', `Message ${message.id} of session ${session.id}`, flaw)
        continue
      }
      if (seq !== message.seq) moved += 1
      const localId = this.#localIdOf(message, session.id, localIds)
      Object.assign(stored, { lastSeq: seq, count: stored.count + 1, bytes: stored.bytes + sealed.length })
      const crc = checksumOf(key, seq, sealed)
      await rows.add({ account, session: key, seq, created_at: message.createdAt, crc, local_id: localId, sealed }, sealed.length)
      this.#report.counts.messages.imported += 1
      if (stored.count % 1_000 > 0) continue
      this.#stopIfAsked()
      this.#deps.tell({ accounts: this.#count('accounts'), messages: this.#count('messages') })
    }
    await rows.flush()
    if (moved > 0) {
      this.#remark(`Session ${session.id}: ${moved} messages got a higher number, because theirs was taken or is none. Their order stays.`)
    }
    return stored
  }

  #localIdOf({ id, localId }: HappyMessage, session: string, taken: Set<string>): string | null {
    if (localId === null) return null
    const isFree = v.is(ids.localId, localId) && !taken.has(localId)
    taken.add(localId)
    if (!isFree)
      this.#remark(`Message ${id} of session ${session} is imported without the id of its sender, which is empty, too long or taken.`)
    return isFree ? localId : null
  }

  async #storeSessions(account: HappyAccount, key: number, sessions: Place['sessions'], clock: Clock): Promise<void> {
    const cells = new Batch(rows => this.#write('session_cells', rows))
    for await (const session of this.#deps.from.sessions(account.id)) {
      const stored = sessions.get(session.id)
      if (!stored) continue
      await this.#write('session', [this.#sessionRow(key, session, stored, clock.next())])
      const { metadata, metadataVersion, agentState, agentStateVersion, dataKey } = session
      await cells.add(
        {
          ...{ session: stored.key, account: key, data_key: base64(dataKey), metadata, metadata_version: metadataVersion },
          ...{ agent_state: agentState, agent_state_version: agentStateVersion }
        },
        metadata.length + (agentState?.length ?? 0)
      )
      this.#report.counts.sessions.imported += 1
    }
    await cells.flush()
  }

  #sessionRow(account: number, session: HappySession, { key, lastSeq, count, bytes }: StoredMessages, clock: number): TransferRow {
    const last = Math.min(lastPossibleSeq, Math.max(lastSeq, session.seq))
    return {
      ...{ key, account, id: session.id, tag: session.tag, last_seq: last, delivered_seq: 0, read_seq: 0, gap_ahead: 0 },
      ...{ gaps: last - count, bytes, clock, active: 0, active_at: session.activeAt },
      ...{ created_at: session.createdAt, updated_at: session.updatedAt }
    }
  }

  async #storeAttachments(account: number, session: string, sessionKey: number): Promise<TransferRow[]> {
    const { bucket } = this.#deps
    const rows: TransferRow[] = []
    if (!bucket) return rows
    for await (const file of attachmentsIn(bucket, session)) {
      if ('flaw' in file) {
        this.#leaveOut('attachments', `The file ${file.path}`, file.flaw)
        continue
      }
      const key = this.#newKey('attachment')
      const { id, size, sha256, createdAt } = file
      for (const { at, bytes } of file.pieces)
        await this.#write('attachment_piece', [{ account, attachment: key, at, crc: checksumOf(key, at, bytes), bytes }])
      rows.push({
        ...{ key, account, session: sessionKey, id, size, received: size, attempt: 0, sha256 },
        ...{ created_at: createdAt, ends_at: null }
      })
      this.#report.counts.attachments.imported += 1
    }
    return rows
  }

  /** Everything besides sessions, as rows by table; artifacts are the only large ones, and an account has few. */
  async #readRest(account: HappyAccount, key: number, sessions: Place['sessions'], clock: Clock): Promise<Rest> {
    const rest: Rest = { account_cells: [], machine: [], artifact: [], access_key: [], kv: [], usage_report: [], push_token: [] }
    const place = { of: account.id, key, sessions, machines: new Map<string, number>(), clock, rest }
    const { settings, settingsVersion } = account
    if (settings !== null || settingsVersion > 0) {
      rest['account_cells']?.push({ account: key, settings, settings_version: settingsVersion, settings_clock: clock.next() })
    }
    await this.#readMachines(place)
    await this.#readArtifacts(place)
    await this.#readAccessKeys(place)
    await this.#readValues(place)
    await this.#readUsage(place)
    await this.#readPushTokens(place)
    return rest
  }

  async #readMachines({ of, key: account, machines, clock, rest }: Place): Promise<void> {
    for await (const { id, metadata, daemonState, dataKey, ...machine } of this.#deps.from.machines(of)) {
      const isFine = v.is(ids.machineId, id) && v.is(ids.sealedMetadata, metadata) && v.is(v.nullable(ids.sealedState), daemonState)
      const key = this.#newKey('machine')
      const row = {
        ...{ key, account, id, data_key: base64(dataKey), metadata, metadata_version: machine.metadataVersion },
        ...{ daemon_state: daemonState, daemon_state_version: machine.daemonStateVersion, clock: clock.next() },
        ...{ active: 0, active_at: machine.activeAt, created_at: machine.createdAt, updated_at: machine.updatedAt }
      }
      if (this.#take(rest, 'machine', 'machines', row, `Machine ${id}`, isFine)) machines.set(id, key)
    }
  }

  async #readArtifacts({ of, key: account, clock, rest }: Place): Promise<void> {
    for await (const artifact of this.#deps.from.artifacts(of)) {
      const [header, body, dataKey] = [base64(artifact.header), base64(artifact.body), base64(artifact.dataKey)]
      const isFine = v.is(ids.artifactId, artifact.id) && [header, body].every(text => v.is(ids.sealed, text))
      const row = {
        ...{ key: this.#newKey('artifact'), account, id: artifact.id, seq: artifact.seq, clock: clock.next() },
        ...{ created_at: artifact.createdAt, updated_at: artifact.updatedAt, data_key: dataKey },
        ...{ bytes: header.length + body.length, header_version: artifact.headerVersion, body_version: artifact.bodyVersion, header, body }
      }
      this.#take(rest, 'artifact', 'artifacts', row, `Artifact ${artifact.id}`, isFine)
    }
  }

  async #readAccessKeys({ of, key: account, sessions, machines, rest }: Place): Promise<void> {
    for await (const { sessionId, machineId, data, dataVersion, createdAt, updatedAt } of this.#deps.from.accessKeys(of)) {
      const [session, machine] = [sessions.get(sessionId)?.key, machines.get(machineId)]
      const isFine = session !== undefined && machine !== undefined && v.is(ids.sealed, data)
      const ends = { account, session: session ?? 0, machine: machine ?? 0 }
      const row = { ...ends, data, data_version: dataVersion, created_at: createdAt, updated_at: updatedAt }
      this.#take(rest, 'access_key', 'access keys', row, `The access key of session ${sessionId} on machine ${machineId}`, isFine)
    }
  }

  async #readValues({ of, key: account, clock, rest }: Place): Promise<void> {
    for await (const { key: name, value, version, updatedAt } of this.#deps.from.values(of)) {
      const row = { account, name, version, clock: clock.next(), updated_at: updatedAt, value: base64(value) }
      this.#take(rest, 'kv', 'values', row, `The value of ${name}`, v.is(ids.kvKey, name))
    }
  }

  // There, several reports without a session may have one name; here the newest replaces the others.
  async #readUsage({ of, key: account, sessions, rest }: Place): Promise<void> {
    const unnamed = new Set<string>()
    for await (const { key: name, sessionId, data, createdAt, updatedAt } of this.#deps.from.usage(of)) {
      const { data: sums, success } = v.safeParse(usageData, data)
      if (sessionId === null && unnamed.has(name)) {
        this.#leaveOut('usage reports', `A usage report ${name} without a session`, 'there is a newer one of this name')
        continue
      }
      if (sessionId === null) unnamed.add(name)
      const session = sessionId === null ? 0 : sessions.get(sessionId)?.key
      const row = {
        ...{ key: this.#newKey('usage_report'), account, session: session ?? 0, name, id: newId() },
        ...{ created_at: createdAt, updated_at: updatedAt },
        ...{ tokens: JSON.stringify(sums?.tokens ?? {}), cost: JSON.stringify(sums?.cost ?? {}) }
      }
      const isFine = success && session !== undefined && v.is(ids.plainText(200), name)
      this.#take(rest, 'usage_report', 'usage reports', row, `The usage report ${name} of session ${sessionId ?? 'none'}`, isFine)
    }
  }

  async #readPushTokens({ of, key: account, rest }: Place): Promise<void> {
    for await (const { token, createdAt, updatedAt } of this.#deps.from.pushTokens(of)) {
      const row = { account, token, id: newId(), device: null, created_at: createdAt, updated_at: updatedAt }
      const isFine = token.length > 0 && token.length <= 4_096
      this.#take(rest, 'push_token', 'push tokens', row, `A push token of account ${of}`, isFine)
    }
  }

  #take(rest: Rest, table: string, kind: ImportedKind, row: TransferRow, name: string, isFine: boolean): boolean {
    if (!isFine) {
      this.#leaveOut(kind, name, 'it, or what it belongs to, is longer than allowed or not what it should be')
      return false
    }
    rest[table]?.push(row)
    this.#report.counts[kind].imported += 1
    return true
  }

  async #write(table: string, rows: readonly TransferRow[]): Promise<void> {
    if (rows.length > 0) await this.#to.write(transferTable(table), rows)
  }

  #newKey(table: string): number {
    const key = (this.#keys[table] ?? 0) + 1
    this.#keys[table] = key
    return key
  }

  #leaveOut(kind: ImportedKind, name: string, flaw: string): void {
    this.#report.counts[kind].leftOut += 1
    this.#remark(`${name.length > 120 ? `${name.slice(0, 120)}…` : name} is left out: ${flaw}.`)
  }

  #remark(sentence: string): void {
    this.#report.remarks.push(sentence)
  }
}

interface StoredMessages {
  /** Of its session. */
  key: number
  lastSeq: number
  count: number
  bytes: number
}
interface StoredSession extends StoredMessages {
  attachments: readonly TransferRow[]
}
/** Where what an account has is put. */
interface Place {
  /** The account's id in the Happy database, and its key in the store. */
  of: string
  key: number
  sessions: ReadonlyMap<string, StoredSession>
  machines: Map<string, number>
  clock: Clock
  rest: Rest
}
/** Rows by table. */
type Rest = Record<string, TransferRow[]>

// The exit code that a shell uses after Ctrl-C.
const interrupted = 130
const usageData = v.object({ tokens: amounts, cost: amounts })
const encrypted = v.object({ t: v.literal('encrypted'), c: ids.sealed })

/** Clocks of changes, above every number that clients have seen. */
class Clock {
  now: number

  constructor(seq: number) {
    this.now = seq
  }

  next(): number {
    this.now += 1
    return this.now
  }
}

/** Rows that are written together, as many as the memory may hold. */
class Batch {
  readonly #write: (rows: readonly TransferRow[]) => Promise<void>
  #rows: TransferRow[] = []
  #bytes = 0

  constructor(write: (rows: readonly TransferRow[]) => Promise<void>) {
    this.#write = write
  }

  async add(row: TransferRow, bytes: number): Promise<void> {
    this.#rows.push(row)
    this.#bytes += bytes
    if (this.#rows.length >= 500 || this.#bytes > 4 * 1024 * 1024) await this.flush()
  }

  async flush(): Promise<void> {
    this.#bytes = 0
    await this.#write(this.#rows.splice(0))
  }
}

interface Known {
  hasOwner: boolean
  publicKeys: ReadonlySet<string>
  ids: ReadonlySet<string>
}

async function knownAccounts(store: Transfer): Promise<Known> {
  const rows: TransferRow[] = []
  for await (const row of transferRows(store, transferTable('account'))) rows.push(row)
  return {
    hasOwner: rows.some(({ role }) => role === 'owner'),
    publicKeys: new Set(rows.map(({ public_key }) => String(public_key))),
    ids: new Set(rows.map(({ id }) => String(id)))
  }
}

function flawOfAccount({ id, publicKey, settings }: HappyAccount, known: Known): string | undefined {
  if (known.publicKeys.has(publicKey.toUpperCase())) return 'it is here already, and stays as it is'
  if (known.ids.has(id)) return 'another account has its id here'
  if (!v.is(ids.accountId, id)) return 'its id is longer than 64 characters, or empty'
  if (!/^[0-9A-F]{64}$/i.test(publicKey)) return 'its key is not one of Ed25519'
  return v.is(v.nullable(ids.sealed), settings) ? undefined : 'its settings are longer than 32 MiB'
}

function flawOfSession({ id, tag, metadata, agentState }: HappySession): string | undefined {
  if (!v.is(ids.sessionId, id)) return 'its id is longer than 64 characters, or empty'
  if (!v.is(ids.plainText(1024), tag)) return 'its tag is longer than 1024 characters, or empty'
  if (!v.is(ids.sealedMetadata, metadata)) return 'its metadata is longer than 1 MiB'
  return v.is(v.nullable(ids.sealedState), agentState) ? undefined : 'the state of its agent is longer than 4 MiB'
}

function sealedOf({ content }: HappyMessage): string | undefined {
  const { data, success } = v.safeParse(encrypted, content)
  return success ? data.c : undefined
}

function base64(bytes: Uint8Array): string
function base64(bytes: Uint8Array | null): string | null
function base64(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('base64')
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
