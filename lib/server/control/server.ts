import * as z from 'zod'
import { version } from '../../assets.ts'
import { readStoreStatus } from '../actions/operator.ts'
import { command } from './command.ts'

const soundness = z.object({
  scrubbed: z.int(),
  rounds: z.int(),
  damaged: z.int(),
  isFull: z.boolean(),
  logBytes: z.int(),
  logMovedAt: z.int()
})
const backupState = z.object({
  last: z.enum(['ok', 'failed', 'none']),
  goodAt: z.number().optional(),
  taken: z.object({ ok: z.int(), failed: z.int() })
})

/** The server itself. */
export const serverCommands = {
  readStatus: command({
    ask: z.strictObject({}),
    reply: z.object({
      version: z.string(),
      pid: z.int(),
      hasAccounts: z.boolean(),
      soundness: soundness.optional(),
      backups: backupState.optional(),
      serving: z.object({ url: z.string().optional(), signup: z.string() }).optional()
    }),
    run: async deps => ({
      version: version(),
      pid: process.pid,
      ...(await readStoreStatus(deps)),
      backups: deps.backups?.state(),
      serving: deps.serving
    })
  })
}
