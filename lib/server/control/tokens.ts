import { accountId, plainText, time, tokenId } from '../../protocol/wire/ids.ts'
import { tokenRecord } from '../../protocol/wire/records.ts'
import { everyScope, scope } from '../../protocol/wire/scopes.ts'
import * as v from '../../schema.ts'
import { createToken, endNamedToken, listTokens } from '../actions/account/tokens.ts'
import { readAccountId } from '../actions/account/users.ts'
import { command } from './command.ts'

/** The account; optional when there is only one. */
const account = v.optional(accountId)

/** Named tokens, for programs of an account. */
export const tokenCommands = {
  listTokens: command({
    ask: v.strictObject({ account }),
    reply: v.object({ tokens: v.array(tokenRecord) }),
    async run(deps, ask) {
      const rows = await listTokens(deps, { account: await readAccountId(deps, ask.account) })
      return { tokens: rows.map(({ label: name, ...row }) => ({ name, ...row })) }
    }
  }),
  createToken: command({
    ask: v.strictObject({
      account,
      name: plainText(100),
      scopes: v.pipe(v.array(scope), v.minLength(1)),
      expiresAt: v.optional(v.pipe(time, v.safeInteger()))
    }),
    reply: v.object({ id: tokenId, token: v.string() }),
    // Anyone who can read the data directory could do all of it anyway.
    run: async (deps, ask) => createToken(deps, { account: await readAccountId(deps, ask.account), scopes: everyScope }, ask)
  }),
  revokeToken: command({
    ask: v.strictObject({ account, id: tokenId }),
    reply: v.object({}),
    run: async (deps, ask) => endNamedToken(deps, await readAccountId(deps, ask.account), ask.id).then(() => ({}))
  })
}
