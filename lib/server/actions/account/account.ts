import type { ServerOptions } from '../../../options.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import type { Sealed } from '../../../protocol/wire/ids.ts'
import type { AccountProfile } from '../../../protocol/wire/records.ts'
import type { ReplyOf } from '../../../protocol/wire/routes.ts'
import type { LegacyLogin } from '../../../store/access/accounts.ts'
import type { Cell, Conflict, Written } from '../../../store/rows.ts'
import type { SessionSize } from '../../../store/storage.ts'
import type { Caller, Deps } from '../../deps.ts'
import { writeCell } from '../cells.ts'

/** The account in the shape that existing apps expect; this server stores no names. */
export async function readProfile({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<AccountProfile> {
  const createdAt = await store.accountCreatedAt(caller.account)
  if (createdAt === 'missing') throw failure('bad-token')
  return {
    id: caller.account,
    timestamp: createdAt,
    firstName: null,
    lastName: null,
    username: null,
    avatar: null,
    github: null,
    connectedServices: []
  }
}

export async function readSettings({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<Cell> {
  return store.readSettings(caller.account)
}

export async function writeSettings(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  settings: Sealed | null,
  expected: number
): Promise<Written | Conflict> {
  const outcome = await writeCell(deps, caller, { of: 'account', name: 'settings' }, expected, settings)
  if (outcome === 'missing') throw failure('bad-token')
  return outcome
}

export async function readLegacyLogin({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<LegacyLogin> {
  const may = await store.readLegacyLogin(caller.account)
  if (may === 'missing') throw failure('bad-token')
  return may
}

export async function setLegacyLogin({ store }: Pick<Deps, 'store'>, caller: Caller, may: LegacyLogin): Promise<void> {
  if ((await store.setLegacyLogin(caller.account, may)) === 'missing') throw failure('bad-token')
}

export async function readSessionSizes({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<SessionSize[]> {
  return store.readSessionSizes(caller.account)
}

/** JSON has no infinity, so unlimited is null. */
export async function readStorage(
  { store, quotas, keepSessionsDays }: Pick<Deps, 'store' | 'quotas'> & Pick<ServerOptions, 'keepSessionsDays'>,
  caller: Caller
): Promise<ReplyOf<'readStorage'>> {
  const stored = await store.readStorage(caller.account)
  if (stored === 'missing') throw failure('bad-token')
  const { sessions, messages, bytes } = quotas(caller.account)
  return {
    ...stored,
    quotas: { sessions: endOf(sessions), messages: endOf(messages), bytes: endOf(bytes) },
    keepSessionsDays: keepSessionsDays ?? null
  }
}

function endOf(quota: number): number | null {
  return Number.isFinite(quota) ? quota : null
}
