import * as z from 'zod'
import { accountId, plainText, time, tokenId } from '../../protocol/wire/ids.ts'
import { tokenRecord } from '../../protocol/wire/records.ts'
import { everyScope, scope } from '../../protocol/wire/scopes.ts'
import { createToken, endNamedToken, listTokens } from '../actions/account/tokens.ts'
import { readAccountId } from '../actions/account/users.ts'
import { command } from './command.ts'

/** The account; optional when there is only one. */
const account = accountId.optional()

/** Named tokens, for programs of an account. */
export const tokenCommands = {
  listTokens: command({
    ask: z.strictObject({ account }),
    reply: z.object({ tokens: z.array(tokenRecord) }),
    async run(deps, ask) {
      const rows = await listTokens(deps, { account: await readAccountId(deps, ask.account) })
      return { tokens: rows.map(({ label: name, ...row }) => ({ name, ...row })) }
    }
  }),
  createToken: command({
    ask: z.strictObject({ account, name: plainText(100), scopes: z.array(scope).min(1), expiresAt: time.int().optional() }),
    reply: z.object({ id: tokenId, token: z.string() }),
    // Anyone who can read the data directory could do all of it anyway.
    run: async (deps, ask) => createToken(deps, { account: await readAccountId(deps, ask.account), scopes: everyScope }, ask)
  }),
  revokeToken: command({
    ask: z.strictObject({ account, id: tokenId }),
    reply: z.object({}),
    run: async (deps, ask) => endNamedToken(deps, await readAccountId(deps, ask.account), ask.id).then(() => ({}))
  })
}
