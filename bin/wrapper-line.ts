import type { ArgumentsCamelCase, Argv } from 'yargs'
import { openHome } from '../lib/wrapper/credentials.ts'
import type { RunOptions } from '../lib/wrapper/run.ts'
import { processTerminal } from '../lib/wrapper/terminal/terminal.ts'

/** Options of every command that talks to a server for this computer. */
export function serverOption(line: Argv): Argv {
  return line.option('server', {
    type: 'string',
    requiresArg: true,
    describe: 'Address of the server; else the one of the last login [AFIELD_SERVER]'
  })
}

/** Options of every command that runs an agent. */
export function agentOptions(line: Argv): Argv {
  return serverOption(line)
    .option('mode', { type: 'string', requiresArg: true, describe: 'Mode to begin in; without it one in which the agent asks' })
    .option('resume', { type: 'string', requiresArg: true, describe: 'Go on with an earlier conversation of the agent, by its id' })
}

/** What those options and the process say, for `runAgent`. */
export function readAgentOptions(args: ArgumentsCamelCase): Omit<RunOptions, 'kind'> {
  return { ...readServerOption(args), directory: process.cwd(), mode: text(args['mode']), resume: text(args['resume']) }
}

export function readServerOption(args: ArgumentsCamelCase): Pick<RunOptions, 'home' | 'server' | 'env' | 'terminal'> {
  return { home: openHome(process.env), server: text(args['server']), env: process.env, terminal: processTerminal() }
}

/** The words of a variadic argument, and those behind `--`, as they were typed. */
export function wordsOf(args: ArgumentsCamelCase, name: string): string[] {
  const words: unknown[] = [args[name] ?? [], args['--'] ?? []].flat()
  return words.map(String)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
