import * as v from '../../schema.ts'
import { copyStore } from '../actions/operator.ts'
import { command } from './command.ts'

export const backupCommands = {
  copyStore: command({
    ask: v.strictObject({}),
    reply: v.object({ directory: v.string() }),
    run: (deps, _ask, tell) => copyStore(deps, tell)
  })
}
