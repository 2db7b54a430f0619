import * as z from 'zod'
import { CannotStart } from '../../exit.ts'
import { type AccountId, accountId, plainText, time, tokenId } from '../../protocol/wire/ids.ts'
import { tokenRecord } from '../../protocol/wire/records.ts'
import { everyScope, scope } from '../../protocol/wire/scopes.ts'
import { createToken, endNamedToken, listTokens } from '../actions/tokens.ts'
import { type ControlDeps, command } from './command.ts'

/** Whose; may be left out where there is one account. */
const account = accountId.optional()

/** Named tokens, for programs of an account. */
export const tokenCommands = {
  listTokens: command({
    ask: z.strictObject({ account }),
    reply: z.object({ tokens: z.array(tokenRecord) }),
    async run(deps, ask) {
      const rows = await listTokens(deps, { account: await accountOf(deps, ask.account) })
      return { tokens: rows.map(({ label: name, ...row }) => ({ name, ...row })) }
    }
  }),
  createToken: command({
    ask: z.strictObject({ account, name: plainText(100), scopes: z.array(scope).min(1), expiresAt: time.int().optional() }),
    reply: z.object({ id: tokenId, token: z.string() }),
    // Whoever can read the data directory could do all of it anyway.
    run: async (deps, ask) => createToken(deps, { account: await accountOf(deps, ask.account), scopes: everyScope }, ask)
  }),
  revokeToken: command({
    ask: z.strictObject({ account, id: tokenId }),
    reply: z.object({}),
    run: async (deps, ask) => endNamedToken(deps, await accountOf(deps, ask.account), ask.id).then(() => ({}))
  })
}

async function accountOf({ store }: ControlDeps, named: AccountId | undefined): Promise<AccountId> {
  const accounts = await store.listAccounts()
  const [only, ...others] = accounts
  const found = named === undefined ? (others.length === 0 ? only : undefined) : accounts.find(({ id }) => id === named)
  if (found) return found.id
  if (named !== undefined) throw new CannotStart(`There is no account ${named}; "users" lists them.`)
  throw new CannotStart(
    accounts.length === 0
      ? 'Nobody has an account yet.'
      : `There are ${accounts.length} accounts; name one with --account. "users" lists them.`
  )
}
