import type { ArgumentsCamelCase, Argv } from 'yargs'

/** What a file in bin/commands exports: its options, and what it does with them. */
export interface Command {
  builder(line: Argv): Argv
  handler(args: ArgumentsCamelCase): Promise<void> | void
}

/**
 * Every command, in the order of `--help`. Its file is loaded only when it runs, so that an agent's
 * wrapper never loads the server. What follows `--` arrives as `args['--']`. Those without `about`
 * are run by Afield itself.
 */
export const commands: readonly { usage: string; about: string | false; load(): Promise<Command> }[] = [
  { usage: 'serve', about: 'Run the server, with the app', load: () => import('./commands/serve.ts') },
  { usage: 'demo-agent <state>', about: false, load: () => import('./commands/demo-agent.ts') }
]
