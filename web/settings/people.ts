import { signal } from '@preact/signals'
import { Refused } from '../../lib/client/index.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from '../model/account/live.ts'

/** A person waiting for approval, and an existing invitation. */
export type Applicant = ReplyOf<'listSignups'>['signups'][number]
export type Invite = ReplyOf<'listInvites'>['invites'][number]

export interface People {
  readonly waiting: readonly Applicant[]
  readonly invites: readonly Invite[]
}

type Link = Pick<Live, 'rest'>

/** Whether this account owns the server; undefined until the server has answered. */
export const isOwner = signal<boolean | undefined>(undefined)

export async function readPeople({ rest }: Link): Promise<People | 'not-owner'> {
  try {
    const [{ signups }, { invites }] = await Promise.all([rest.call('listSignups', {}), rest.call('listInvites', {})])
    isOwner.value = true
    return { waiting: signups, invites }
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 403 && error.status !== 404)) throw error
    // Happy's server has no owner.
    isOwner.value = false
    return 'not-owner'
  }
}

export async function approveApplicant({ rest }: Link, { fingerprint }: Applicant): Promise<void> {
  await rest.call('approveSignup', { params: { fingerprint } })
}

export async function rejectApplicant({ rest }: Link, { fingerprint }: Applicant): Promise<void> {
  await rest.call('rejectSignup', { params: { fingerprint } })
}

/** The link of a new invitation. It is returned only now, and stored nowhere. */
export async function invite({ rest }: Link, label: string): Promise<string> {
  const { code } = await rest.call('createInvite', { body: label === '' ? {} : { label } })
  return `${location.origin}/#invite=${code}`
}

export async function revokeInvite({ rest }: Link, { id }: Invite): Promise<void> {
  await rest.call('revokeInvite', { params: { id } })
}
