import { z } from 'zod'
import { version } from '../../assets.ts'
import { command } from './command.ts'

const soundness = z.object({ scrubbed: z.int(), rounds: z.int(), damaged: z.int(), isFull: z.boolean() })

/** The server itself. */
export const serverCommands = {
  readStatus: command({
    ask: z.strictObject({}),
    reply: z.object({ version: z.string(), pid: z.int(), hasAccounts: z.boolean(), soundness }),
    run: async ({ store }) => ({
      version: version(),
      pid: process.pid,
      hasAccounts: await store.hasAccounts(),
      soundness: store.soundness()
    })
  })
}
