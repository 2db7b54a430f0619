import * as z from 'zod'
import { copyStore } from '../actions/operator.ts'
import { command } from './command.ts'

export const backupCommands = {
  copyStore: command({
    ask: z.strictObject({}),
    reply: z.object({ directory: z.string() }),
    run: (deps, _ask, tell) => copyStore(deps, tell)
  })
}
