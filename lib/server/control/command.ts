import type * as z from 'zod'
import type { Progress } from '../../local-socket/ask.ts'
import type { ServerOptions } from '../../options.ts'
import type { Backups } from '../chores/backups.ts'
import type { LeftoverSweep } from '../chores/leftover-sweep.ts'
import type { Deps } from '../deps.ts'

/** What commands work with: the running server's own, or a store that was opened for the one command. */
export interface ControlDeps extends Omit<Deps, 'quotas'> {
  options: Pick<ServerOptions, 'data'>
  leftoverSweep: Pick<LeftoverSweep, 'soon'>
  /** Those that a running server takes by itself. */
  backups?: Pick<Backups, 'state'> | undefined
  /** Of a running server; `own` is a policy of the program that embeds it. `url` is missing until it listens. */
  serving?: { url?: string; signup: ServerOptions['signup'] | 'own' }
}

/** One thing that the owner of the data directory can ask of a server. What is in question and reply crosses a socket as JSON. */
export interface Command<Ask extends z.ZodType, Reply extends z.ZodType> {
  ask: Ask
  reply: Reply
  /** Throws `Failure` or `CannotStart` for what the person can understand: its one sentence is what they see. */
  run(deps: ControlDeps, ask: z.output<Ask>, tell: (progress: Progress) => void): Promise<z.output<Reply>>
}

export function command<Ask extends z.ZodType, Reply extends z.ZodType>(row: Command<Ask, Reply>): Command<Ask, Reply> {
  return row
}
