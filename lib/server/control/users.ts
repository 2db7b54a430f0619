import * as z from 'zod'
import { accountId, inviteId, plainText } from '../../protocol/wire/ids.ts'
import { createInvite, listInvites, revokeInvite } from '../actions/account/invites.ts'
import { decideSignup, listSignups } from '../actions/account/signup.ts'
import { listUsers, removeUser } from '../actions/account/users.ts'
import { command } from './command.ts'

const nothing = z.object({})
const fingerprint = z.strictObject({ fingerprint: z.string() })
const invite = z.object({
  id: inviteId,
  label: z.string(),
  state: z.enum(['unused', 'open', 'used', 'over']),
  createdAt: z.number(),
  endsAt: z.number()
})

/** Accounts, sign-up requests and invitations. */
export const userCommands = {
  listUsers: command({
    ask: z.strictObject({}),
    reply: z.object({
      users: z.array(
        z.object({
          id: accountId,
          fingerprint: z.string(),
          role: z.enum(['owner', 'member']),
          createdAt: z.number(),
          lastUsedAt: z.number().nullable(),
          messages: z.number(),
          bytes: z.number()
        })
      ),
      waiting: z.array(
        z.object({ fingerprint: z.string(), client: z.string(), address: z.string(), askedAt: z.number(), endsAt: z.number() })
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
    ask: z.strictObject({ id: accountId }),
    reply: nothing,
    run: (deps, { id }) => removeUser(deps, 'operator', id).then(() => ({}))
  }),
  createInvite: command({
    ask: z.strictObject({ label: plainText(100).optional() }),
    reply: z.object({ invite, code: z.string() }),
    run: (deps, { label = '' }) => createInvite(deps, 'operator', label)
  }),
  listInvites: command({
    ask: z.strictObject({}),
    reply: z.object({ invites: z.array(invite) }),
    run: async deps => ({ invites: await listInvites(deps, 'operator') })
  }),
  revokeInvite: command({
    ask: z.strictObject({ id: inviteId }),
    reply: nothing,
    run: (deps, { id }) => revokeInvite(deps, 'operator', id).then(() => ({}))
  })
}
