import { Refused } from '../../lib/client/index.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from './live.ts'

export type StorageThere = ReplyOf<'readStorage'>

/** How much the account keeps on its server; `untold` by a server that has no word for it. */
export async function readStorage({ rest }: Pick<Live, 'rest'>): Promise<StorageThere | 'untold'> {
  try {
    return await rest.call('readStorage', {})
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 'untold'
    throw error
  }
}
