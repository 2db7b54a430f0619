import { z } from 'zod'
import { version } from '../../assets.ts'
import { command } from './command.ts'

/** The server itself. */
export const serverCommands = {
  readStatus: command({
    ask: z.strictObject({}),
    reply: z.object({ version: z.string(), pid: z.int(), hasAccounts: z.boolean() }),
    run: async ({ store }) => ({ version: version(), pid: process.pid, hasAccounts: await store.hasAccounts() })
  })
}
