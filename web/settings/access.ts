import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import { everyScope, type Scope } from '../../lib/protocol/wire/scopes.ts'
import type { Live } from '../model/account/live.ts'

/** A key of a program that works for this account. */
export type AccessKey = ReplyOf<'listTokens'>['tokens'][number]
export type { Scope }
export const scopes: readonly Scope[] = everyScope

type Link = Pick<Live, 'rest'>

export async function listAccessKeys({ rest }: Link): Promise<AccessKey[]> {
  return (await rest.call('listTokens', {})).tokens
}

/** The key itself, told this once. */
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
