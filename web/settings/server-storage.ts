import { Refused } from '../../lib/client/index.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from '../model/account/live.ts'

export type ServerStorage = ReplyOf<'readStorage'>

/** The bytes that each session uses on the server; empty if the server does not report them. */
export async function readSessionSizes({ rest }: Pick<Live, 'rest'>): Promise<ReadonlyMap<string, number>> {
  try {
    const { sessions } = await rest.call('readSessionSizes', {})
    return new Map(sessions.map(({ id, bytes }) => [id, bytes]))
  } catch {
    return new Map()
  }
}

/** The storage that the account uses on its server; `unsupported` if the server does not report it. */
export async function readStorage({ rest }: Pick<Live, 'rest'>): Promise<ServerStorage | 'unsupported'> {
  try {
    return await rest.call('readStorage', {})
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 'unsupported'
    throw error
  }
}
