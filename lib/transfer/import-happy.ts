import { existsSync } from 'node:fs'
import { asOwnerOf, makeDataDirectory } from '../server/data-directory.ts'
import { openHappyDatabase, openImportTarget } from '../store/open.ts'
import { emptyTransfer } from '../store/transfer.ts'
import { openBucket } from './bucket.ts'
import { type ImportDeps, type ImportReport, importAccounts } from './happy.ts'

export interface ImportAsk extends Pick<ImportDeps, 'isCheck' | 'owner' | 'tell' | 'signal'> {
  /** URL of the Happy server's database. */
  from: string
  /** URL of the store that gets the accounts, and the data directory of its server. */
  store: string
  data: string
  /** A folder with a copy of its bucket. */
  attachments: string | undefined
}

/** Imports a Happy server's accounts into a store that no server uses; with `isCheck` it only says what that would do. */
export async function importHappy({ from, store, data, attachments, ...ask }: ImportAsk): Promise<ImportReport> {
  const bucket = attachments === undefined ? undefined : openBucket(attachments)
  const source = await openHappyDatabase(from)
  try {
    if (!ask.isCheck) makeDataDirectory(data)
    const run = async () => {
      const target = (await openImportTarget(store, data, { mayCreate: !ask.isCheck })) ?? emptyTransfer
      try {
        const report = await importAccounts({ from: source, to: target, bucket, ...ask })
        if (source.others > 0)
          report.remarks.push(
            'Other programs are connected to that database; what they store from now on is not imported. Is its server stopped?'
          )
        return report
      } finally {
        await target.close()
      }
    }
    return existsSync(data) ? await asOwnerOf(data, run) : await run()
  } finally {
    await source.close()
  }
}
