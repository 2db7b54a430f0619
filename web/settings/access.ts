import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import { everyScope, type Scope } from '../../lib/protocol/wire/scopes.ts'
import type { Live } from '../model/account/live.ts'

/** A key for a program that acts for this account. */
export type AccessKey = ReplyOf<'listTokens'>['tokens'][number]
export type { Scope }
export const scopes: readonly Scope[] = everyScope

type Link = Pick<Live, 'rest'>

export async function listAccessKeys({ rest }: Link): Promise<AccessKey[]> {
  return (await rest.call('listTokens', {})).tokens
}

/** Returns the key itself, which is shown only now. */
export async function createAccessKey(
  { rest }: Link,
  draft: { name: string; scopes: readonly Scope[]; expiresAt: number | undefined }
): Promise<string> {
  const { name, scopes, expiresAt } = draft
  const { token } = await rest.call('createToken', { body: { name, scopes: [...scopes], expiresAt } })
  return token
}

export async function revokeAccessKey({ rest }: Link, { id }: AccessKey): Promise<void> {
  await rest.call('revokeToken', { params: { id } })
}
