import { Refused } from '../../lib/client/index.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from '../model/account/live.ts'

export type StorageThere = ReplyOf<'readStorage'>

/** How many bytes each session keeps on the server; none where it has no word for that. */
export async function readSessionSizes({ rest }: Pick<Live, 'rest'>): Promise<ReadonlyMap<string, number>> {
  try {
    const { sessions } = await rest.call('readSessionSizes', {})
    return new Map(sessions.map(({ id, bytes }) => [id, bytes]))
  } catch {
    return new Map()
  }
}

/** How much the account keeps on its server; `untold` by a server that has no word for it. */
export async function readStorage({ rest }: Pick<Live, 'rest'>): Promise<StorageThere | 'untold'> {
  try {
    return await rest.call('readStorage', {})
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 'untold'
    throw error
  }
}
