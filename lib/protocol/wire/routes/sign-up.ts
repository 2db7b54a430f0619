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
    params: z.object({ fingerprint }),
    reply: ok
  }),
  rejectSignup: route({
    method: 'POST',
    path: '/v1/signups/:fingerprint/reject',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params: z.object({ fingerprint }),
    reply: ok
  }),
  listInvites: route({
    method: 'GET',
    path: '/v1/invites',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: z.object({ invites: z.array(inviteRecord) })
  }),
  createInvite: route({
    method: 'POST',
    path: '/v1/invites',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: z.object({ label: plainText(100).optional() }),
    reply: z.object({ invite: inviteRecord, code: z.string() })
  }),
  revokeInvite: route({
    method: 'DELETE',
    path: '/v1/invites/:id',
    auth: 'manage',
    limit: 0,
    ours: true,
    params: z.object({ id: inviteId }),
    reply: ok
  }),
  openInvite: route({
    method: 'POST',
    path: '/v1/invites/open',
    auth: 'none',
    limit: 2 * kib,
    ours: true,
    body: z.object({ code: z.string().min(1).max(64) }),
    reply: z.object({ openUntil: time })
  })
} as const
