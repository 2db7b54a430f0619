import * as z from 'zod'
import { fingerprintLength } from '../fingerprint.ts'
import { inviteId, plainText, time } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const fingerprint = z.string().length(fingerprintLength)

const inviteRecord = z.object({
  id: inviteId,
  label: z.string(),
  /** `open` for five minutes after its link was opened; `over` when its day has passed. */
  state: z.enum(['unused', 'open', 'used', 'over']),
  createdAt: time,
  endsAt: time
})

/** Letting people in: for the app of the owner, whose account is the first of the server. */
export const signUpRoutes = {
  listSignups: route({
    method: 'GET',
    path: '/v1/signups',
    auth: 'manage',
    limit: 0,
    ours: true,
    about: 'Who waits to be let in, the one who asked last first. The client names itself as it likes. For the owner only.',
    reply: z.object({
      signups: z.array(z.object({ fingerprint, client: z.string(), address: z.string(), askedAt: time, endsAt: time }))
    })
  }),
  approveSignup: route({
    method: 'POST',
    path: '/v1/signups/:fingerprint/approve',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    about: 'Lets somebody in who waits: signing in again within 15 minutes creates the account. For the owner only.',
    params: z.object({ fingerprint }),
    reply: ok
  }),
  rejectSignup: route({
    method: 'POST',
    path: '/v1/signups/:fingerprint/reject',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    about: 'Turns away somebody who waits, for 15 minutes. For the owner only.',
    params: z.object({ fingerprint }),
    reply: ok
  }),
  listInvites: route({
    method: 'GET',
    path: '/v1/invites',
    auth: 'manage',
    limit: 0,
    ours: true,
    about: 'The invitations of this server, the newest first. For the owner only.',
    reply: z.object({ invites: z.array(inviteRecord) })
  }),
  createInvite: route({
    method: 'POST',
    path: '/v1/invites',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    about:
      'Makes an invitation for one account, good for 24 hours. Its code is told this once; the link is `<server>/#invite=<code>`. For the owner only.',
    body: z.object({ label: plainText(100).optional() }),
    reply: z.object({ invite: inviteRecord, code: z.string() })
  }),
  revokeInvite: route({
    method: 'DELETE',
    path: '/v1/invites/:id',
    auth: 'manage',
    limit: 0,
    ours: true,
    about: 'Ends an invitation. For the owner only.',
    params: z.object({ id: inviteId }),
    reply: ok
  }),
  openInvite: route({
    method: 'POST',
    path: '/v1/invites/open',
    auth: 'none',
    limit: 2 * kib,
    ours: true,
    about:
      'Lets one new key from the network of the caller in within five minutes, for apps that cannot hand in the code when they sign in.',
    body: z.object({ code: z.string().min(1).max(64) }),
    reply: z.object({ openUntil: time })
  })
} as const
