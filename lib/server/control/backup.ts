import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { command } from './command.ts'

export const backupCommands = {
  /** Whoever asks checks, packs and removes the copy, so that a server that runs spends no time on that. */
  copyStore: command({
    ask: z.strictObject({}),
    reply: z.object({ directory: z.string() }),
    async run({ store, options }, _ask, tell) {
      const directory = mkdtempSync(join(options.data, 'copy-'))
      try {
        await store.copyTo(join(directory, 'afield.db'), tell)
        return { directory }
      } catch (error) {
        rmSync(directory, { recursive: true, force: true })
        throw error
      }
    }
  })
}
