import { tokenId } from '../../lib/protocol/wire/ids.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from './live.ts'

/** One sign-in of this account: a browser, or the helper on a machine. */
export type Device = ReplyOf<'listTokens'>['tokens'][number]

/** The name by which the sign-in that asks can be ended. */
export const currentToken = tokenId.parse('current')

export async function listDevices({ rest }: Pick<Live, 'rest'>): Promise<Device[]> {
  const { tokens } = await rest.call('listTokens', {})
  return tokens.toSorted((a, b) => Number(b.current) - Number(a.current) || b.lastUsedAt - a.lastUsedAt)
}

export async function unlinkDevice({ rest }: Pick<Live, 'rest'>, device: Device): Promise<void> {
  await rest.call('revokeToken', { params: { id: device.id } })
}
