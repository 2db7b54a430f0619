import { signal } from '@preact/signals'
import { Refused } from '../../lib/client/index.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from '../model/account/live.ts'

/** Somebody who waits to be let in, and an invitation that was made. */
export type Applicant = ReplyOf<'listSignups'>['signups'][number]
export type Invite = ReplyOf<'listInvites'>['invites'][number]

export interface People {
  readonly waiting: readonly Applicant[]
  readonly invites: readonly Invite[]
}

type Link = Pick<Live, 'rest'>

/** Whether this account is the owner of the server; undefined until the server was asked. */
export const isOwner = signal<boolean | undefined>(undefined)

/** Undefined for an account that does not own the server. */
export async function readPeople({ rest }: Link): Promise<People | undefined> {
  try {
    const [{ signups }, { invites }] = await Promise.all([rest.call('listSignups', {}), rest.call('listInvites', {})])
    isOwner.value = true
    return { waiting: signups, invites }
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 403 && error.status !== 404)) throw error
    // A server of the Happy system knows no owner.
    isOwner.value = false
    return undefined
  }
}

export async function letIn({ rest }: Link, { fingerprint }: Applicant): Promise<void> {
  await rest.call('approveSignup', { params: { fingerprint } })
}

export async function turnAway({ rest }: Link, { fingerprint }: Applicant): Promise<void> {
  await rest.call('rejectSignup', { params: { fingerprint } })
}

/** The link of a new invitation. It is told this once and kept nowhere. */
export async function invite({ rest }: Link, label: string): Promise<string> {
  const { code } = await rest.call('createInvite', { body: label === '' ? {} : { label } })
  return `${location.origin}/#invite=${code}`
}

export async function revokeInvite({ rest }: Link, { id }: Invite): Promise<void> {
  await rest.call('revokeInvite', { params: { id } })
}
