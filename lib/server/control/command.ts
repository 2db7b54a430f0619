import type { Progress } from '../../local-socket/ask.ts'
import type { ServerOptions } from '../../options.ts'
import type * as v from '../../schema.ts'
import type { Backups } from '../chores/backups.ts'
import type { LeftoverSweep } from '../chores/leftover-sweep.ts'
import type { Deps } from '../deps.ts'

/** What commands work with: the running server's own objects, or a store opened for this one command. */
export interface ControlDeps extends Omit<Deps, 'quotas'> {
  options: Pick<ServerOptions, 'data'>
  leftoverSweep: Pick<LeftoverSweep, 'soon'>
  /** The scheduled backups of a running server. */
  backups?: Pick<Backups, 'state'> | undefined
  /** Of a running server; `own` is the embedder's own policy. `url` is missing until it listens. */
  serving?: { url?: string; signup: ServerOptions['signup'] | 'own' }
}

/** One command that the owner of the data directory can send to a server. Question and reply cross a socket as JSON. */
export interface Command<Ask extends v.GenericSchema, Reply extends v.GenericSchema> {
  ask: Ask
  reply: Reply
  /** Throws `Failure` or `CannotStart` with the one sentence the user sees. */
  run(deps: ControlDeps, ask: v.InferOutput<Ask>, tell: (progress: Progress) => void): Promise<v.InferOutput<Reply>>
}

export function command<Ask extends v.GenericSchema, Reply extends v.GenericSchema>(row: Command<Ask, Reply>): Command<Ask, Reply> {
  return row
}
