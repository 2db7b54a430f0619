import { version } from '../../assets.ts'
import * as v from '../../schema.ts'
import { readStoreStatus } from '../actions/operator.ts'
import { command } from './command.ts'

const soundness = v.object({
  scrubbed: v.int(),
  rounds: v.int(),
  damaged: v.int(),
  isFull: v.boolean(),
  logBytes: v.int(),
  logMovedAt: v.int()
})
const backupState = v.object({
  last: v.picklist(['ok', 'failed', 'none']),
  goodAt: v.optional(v.number()),
  taken: v.object({ ok: v.int(), failed: v.int() })
})

/** The server itself. */
export const serverCommands = {
  readStatus: command({
    ask: v.strictObject({}),
    reply: v.object({
      version: v.string(),
      pid: v.int(),
      hasAccounts: v.boolean(),
      soundness: v.optional(soundness),
      backups: v.optional(backupState),
      serving: v.optional(v.object({ url: v.optional(v.string()), signup: v.string() }))
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
