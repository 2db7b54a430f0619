import '../../core/notification-routes.ts'
import { Refused, type Rest } from '../../../lib/client/index.ts'
import type { DeviceDb } from '../../core/device-db.ts'

interface ReceiptLink {
  readonly rest: Pick<Rest, 'call'>
  readonly db: Pick<DeviceDb, 'read' | 'change'>
}

/**
 * Acknowledges a push to the server. A receipt that cannot be sent now is stored, and sent by the next push, the app, or the
 * browser once it is online. Resolves to whether all receipts were sent.
 */
export async function sendReceipts({ rest, db }: ReceiptLink, fresh: readonly string[] = []): Promise<boolean> {
  await db.change(entry, kept => [...new Set([...listOf(kept), ...fresh])].slice(-mostKept))
  for (const receipt of listOf(await db.read(entry))) {
    try {
      await rest.call('acknowledgePush', { body: { receipt } })
    } catch (error) {
      // Each is retried at the next chance; a rejected one is not.
      if (!(error instanceof Refused) || error.status === 429) return false
    }
    await db.change(entry, kept => listOf(kept).filter(each => each !== receipt))
  }
  return true
}

const entry = 'push-receipts'
const mostKept = 20

function listOf(kept: unknown): string[] {
  return Array.isArray(kept) ? kept.filter(each => typeof each === 'string') : []
}
