import * as v from '../../../schema.ts'
import { fingerprintLength } from '../fingerprint.ts'
import { inviteId, plainText, time } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const fingerprint = v.pipe(v.string(), v.length(fingerprintLength))

const inviteRecord = v.object({
  id: inviteId,
  label: v.string(),
  /** `open` for five minutes after its link was opened; `over` after its day has passed. */
  state: v.picklist(['unused', 'open', 'used', 'over']),
  createdAt: time,
  endsAt: time
})

/** Admitting people: for the app of the owner, whose account is the first of the server. */
export const signUpRoutes = {
  listSignups: route({
    method: 'GET',
    path: '/v1/signups',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: v.object({
      signups: v.array(v.object({ fingerprint, client: v.string(), address: v.string(), askedAt: time, endsAt: time }))
    })
  }),
  approveSignup: route({
    method: 'POST',
    path: '/v1/signups/:fingerprint/approve',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params: v.object({ fingerprint }),
    reply: ok
  }),
  rejectSignup: route({
    method: 'POST',
    path: '/v1/signups/:fingerprint/reject',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params: v.object({ fingerprint }),
    reply: ok
  }),
  listInvites: route({
    method: 'GET',
    path: '/v1/invites',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: v.object({ invites: v.array(inviteRecord) })
  }),
  createInvite: route({
    method: 'POST',
    path: '/v1/invites',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: v.object({ label: v.optional(plainText(100)) }),
    reply: v.object({ invite: inviteRecord, code: v.string() })
  }),
  revokeInvite: route({
    method: 'DELETE',
    path: '/v1/invites/:id',
    auth: 'manage',
    limit: 0,
    ours: true,
    params: v.object({ id: inviteId }),
    reply: ok
  }),
  openInvite: route({
    method: 'POST',
    path: '/v1/invites/open',
    auth: 'none',
    limit: 2 * kib,
    ours: true,
    body: v.object({ code: v.pipe(v.string(), v.minLength(1), v.maxLength(64)) }),
    reply: v.object({ openUntil: time })
  })
} as const
