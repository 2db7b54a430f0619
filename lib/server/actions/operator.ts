import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerOptions } from '../../options.ts'
import { type CopyProgress, type Soundness, safekeepingOf } from '../../store/safekeeping.ts'
import type { Deps } from '../deps.ts'

/** The state of the store; without its rows if the store leaves that to someone else. */
export async function readStoreStatus({ store }: Pick<Deps, 'store'>): Promise<{ hasAccounts: boolean; soundness: Soundness | undefined }> {
  return { hasAccounts: await store.hasAccounts(), soundness: store.safekeeping?.soundness() }
}

/**
 * Copies the store into a fresh directory of the data directory. The caller checks, packs and removes it,
 * so that the server spends no time on that.
 */
export async function copyStore(
  { store, options }: Pick<Deps, 'store'> & { options: Pick<ServerOptions, 'data'> },
  tell: (progress: CopyProgress) => void
): Promise<{ directory: string }> {
  const { copyTo } = safekeepingOf(store)
  const directory = mkdtempSync(join(options.data, 'copy-'))
  try {
    await copyTo(join(directory, 'afield.db'), tell)
    return { directory }
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw error
  }
}
