import { accountId, inviteId, plainText } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import { createInvite, listInvites, revokeInvite } from '../actions/account/invites.ts'
import { decideSignup, listSignups } from '../actions/account/signup.ts'
import { listUsers, removeUser } from '../actions/account/users.ts'
import { command } from './command.ts'

const nothing = v.object({})
const fingerprint = v.strictObject({ fingerprint: v.string() })
const invite = v.object({
  id: inviteId,
  label: v.string(),
  state: v.picklist(['unused', 'open', 'used', 'over']),
  createdAt: v.number(),
  endsAt: v.number()
})

/** Accounts, sign-up requests and invitations. */
export const userCommands = {
  listUsers: command({
    ask: v.strictObject({}),
    reply: v.object({
      users: v.array(
        v.object({
          id: accountId,
          fingerprint: v.string(),
          role: v.picklist(['owner', 'member']),
          createdAt: v.number(),
          lastUsedAt: v.nullable(v.number()),
          messages: v.number(),
          bytes: v.number()
        })
      ),
      waiting: v.array(
        v.object({ fingerprint: v.string(), client: v.string(), address: v.string(), askedAt: v.number(), endsAt: v.number() })
      )
    }),
    run: async deps => ({ users: await listUsers(deps, 'operator'), waiting: await listSignups(deps, 'operator') })
  }),
  approveSignup: command({
    ask: fingerprint,
    reply: nothing,
    run: (deps, asked) => decideSignup(deps, 'operator', asked.fingerprint, 'approved').then(() => ({}))
  }),
  rejectSignup: command({
    ask: fingerprint,
    reply: nothing,
    run: (deps, asked) => decideSignup(deps, 'operator', asked.fingerprint, 'rejected').then(() => ({}))
  }),
  removeUser: command({
    ask: v.strictObject({ id: accountId }),
    reply: nothing,
    run: (deps, { id }) => removeUser(deps, 'operator', id).then(() => ({}))
  }),
  createInvite: command({
    ask: v.strictObject({ label: v.optional(plainText(100)) }),
    reply: v.object({ invite, code: v.string() }),
    run: (deps, { label = '' }) => createInvite(deps, 'operator', label)
  }),
  listInvites: command({
    ask: v.strictObject({}),
    reply: v.object({ invites: v.array(invite) }),
    run: async deps => ({ invites: await listInvites(deps, 'operator') })
  }),
  revokeInvite: command({
    ask: v.strictObject({ id: inviteId }),
    reply: nothing,
    run: (deps, { id }) => revokeInvite(deps, 'operator', id).then(() => ({}))
  })
}
