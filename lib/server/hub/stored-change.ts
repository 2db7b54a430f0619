import type { Change, StoredChange } from '../../bus/bus.ts'
import type { AccountId, SessionId } from '../../protocol/wire/ids.ts'
import type { Cell, CellRef, Message } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'

export type StoredRows = Pick<
  Store,
  'readMessages' | 'findSession' | 'findMachine' | 'findArtifact' | 'readKv' | 'readSettings' | 'readClocks' | 'changesSince'
>

/**
 * A change that came by reference, as the store has it now: perhaps in a later version, whose own event is then dropped.
 * Undefined if nothing of it is left; its removal is announced by itself.
 */
export async function readChange(store: StoredRows, account: AccountId, stored: StoredChange): Promise<Change | undefined> {
  switch (stored.type) {
    case 'session-opened': {
      const session = await store.findSession(account, stored.session)
      return session === 'missing' ? undefined : { type: stored.type, session }
    }
    case 'machine-opened': {
      const machine = await store.findMachine(account, stored.machine)
      return machine === 'missing' ? undefined : { type: stored.type, machine }
    }
    case 'artifact-opened': {
      const artifact = await store.findArtifact(account, stored.artifact)
      return artifact === 'missing' ? undefined : { type: stored.type, artifact }
    }
    case 'artifact-written': {
      const artifact = await store.findArtifact(account, stored.artifact)
      if (artifact === 'missing') return undefined
      const [header, body] = [stored.parts.includes('header'), stored.parts.includes('body')]
      return { type: stored.type, id: artifact.id, ...(header && { header: artifact.header }), ...(body && { body: artifact.body }) }
    }
    case 'kv-written': {
      const rows = await store.readKv(
        account,
        stored.keys.map(({ key }) => key)
      )
      const rowByKey = new Map(rows.map(row => [row.key, row]))
      // A removed key has no row.
      return { type: stored.type, changes: stored.keys.map(({ key, version }) => rowByKey.get(key) ?? { key, value: null, version }) }
    }
    case 'cell-written': {
      const now = await readCell(store, account, stored.cell)
      return now && { type: stored.type, cell: stored.cell, now }
    }
    case 'messages-added': {
      const messages = await readRange(store, account, stored.session, stored)
      return messages.length > 0 ? { type: stored.type, session: stored.session, messages } : undefined
    }
  }
}

async function readCell(store: StoredRows, account: AccountId, cell: CellRef): Promise<Cell | undefined> {
  if (cell.of === 'account') return store.readSettings(account)
  if (cell.of === 'session') {
    const session = await store.findSession(account, cell.id)
    return session === 'missing' ? undefined : session[cell.name]
  }
  const machine = await store.findMachine(account, cell.id)
  return machine === 'missing' ? undefined : machine[cell.name]
}

async function readRange(
  store: StoredRows,
  account: AccountId,
  session: SessionId,
  range: { first: number; last: number }
): Promise<Message[]> {
  const messages: Message[] = []
  for (let after = range.first - 1; after < range.last; ) {
    const page = await store.readMessages(account, session, { after, limit: range.last - after })
    const newest = page === 'missing' ? undefined : page.messages.at(-1)
    if (page === 'missing' || !newest) break
    messages.push(...page.messages)
    after = newest.seq
  }
  return messages
}
