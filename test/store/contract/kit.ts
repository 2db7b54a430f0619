import { createHash, randomUUID } from 'node:crypto'
import type { AccountId, MachineId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { SignIn } from '../../../lib/store/access/sign-in.ts'
import type { Message, MessageDraft, TokenDraft, TokenKind } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'

/** Makes an empty place and returns the way to open it, which a test may do again after closing. */
export type StorePlace = (t: Check) => () => Promise<Store>

export type ContractPart = (t: Check, place: StorePlace) => void

export const sealed = (text: string) => v.parse(ids.sealed, text)
export const localId = (text: string) => v.parse(ids.localId, text)
export const sessionId = (text: string) => v.parse(ids.sessionId, text)
export const machineId = (text: string) => v.parse(ids.machineId, text)
export const deviceId = (text: string) => v.parse(ids.deviceId, text)
export const tokenId = (text: string) => v.parse(ids.tokenId, text)
export const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

/** Opens a store in a new place and closes it after the test. */
export async function openFor(t: Check, place: StorePlace): Promise<Store> {
  const store = await place(t)()
  t.teardown(() => store.close())
  return store
}

export const draft = (text: string, name: string | null = randomUUID()): MessageDraft => ({
  localId: name === null ? null : localId(name),
  sealed: sealed(text)
})

export const tokenDraft = (
  kind: TokenKind = 'account',
  id: string = randomUUID(),
  label = 'a phone',
  more: Partial<TokenDraft> = {}
): TokenDraft => ({
  id: tokenId(id),
  hash: sha256(id),
  kind,
  label,
  scopes: ['read', 'write'],
  device: kind === 'named' ? null : { id: deviceId(`device of ${id}`), publicKey: null },
  from: '10.0.0',
  createdAt: 1,
  expiresAt: null,
  idleMs: null,
  ...more
})

export function signInAs(name: string, more: Partial<SignIn> = {}): SignIn {
  return {
    publicKey: sha256(`key of ${name}`),
    challengeHash: sha256(randomUUID()),
    create: 'always',
    newAccount: v.parse(ids.accountId, `account-${name}`),
    token: () => tokenDraft(),
    now: 1,
    ...more
  }
}

export async function newAccount(store: Pick<Store, 'signIn'>, name: string): Promise<AccountId> {
  const outcome = await store.signIn(signInAs(name))
  if (outcome.result !== 'signed-in') throw new Error(outcome.result)
  return outcome.account
}

export async function newSession(store: Pick<Store, 'openSession'>, account: AccountId, name: string = randomUUID()): Promise<SessionId> {
  const draft = { tag: name, metadata: sealed(`metadata of ${name}`), agentState: null, dataKey: null, now: 1 }
  const { session } = await store.openSession(account, { id: sessionId(randomUUID()), ...draft })
  return session.id
}

export async function newMachine(store: Store, account: AccountId, id: MachineId): Promise<void> {
  await store.openMachine(account, { id, metadata: sealed('a laptop'), daemonState: sealed('idle'), dataKey: null, now: 1 })
}

/** Everything in a session, by pages of the given size; fails when a page leaves a gap. */
export async function readAll(store: Store, account: AccountId, session: SessionId, limit = 500): Promise<Message[]> {
  const all: Message[] = []
  for (let more = true; more; ) {
    const page = found(await store.readMessages(account, session, { after: all.length, limit }))
    for (const message of page.messages) {
      if (message.seq !== all.length + 1) throw new Error(`A gap: ${message.seq} came after ${all.length}`)
      all.push(message)
    }
    more = page.more
  }
  return all
}

type Refusal = 'missing' | 'full' | 'taken' | 'none'

export function found<T>(answer: T | Refusal): T {
  if (answer === 'missing' || answer === 'full' || answer === 'taken' || answer === 'none') throw new Error(`The store said ${answer}`)
  return answer
}
