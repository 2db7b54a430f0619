import type { ArgumentsCamelCase, Argv, PositionalOptions } from 'yargs'
import { CannotStart } from '../lib/exit.ts'
import type { ClaudeOptions } from '../lib/wrapper/agents/claude/claude.ts'
import { openHome } from '../lib/wrapper/home/credentials.ts'
import { takeStart } from '../lib/wrapper/home/session-notes.ts'
import type { RunOptions } from '../lib/wrapper/run/run.ts'
import { type Console, processConsole } from '../lib/wrapper/terminal/console.ts'
import { processTerminal, tell } from '../lib/wrapper/terminal/terminal.ts'

/** Options of every command that talks to a server for this computer. */
export function serverOption(line: Argv): Argv {
  return line.option('server', {
    type: 'string',
    requiresArg: true,
    describe: 'Address of the server; by default that of the last login [AFIELD_SERVER]'
  })
}

/** Options of every command that runs an agent. */
export function agentOptions(line: Argv): Argv {
  return serverOption(line)
    .option('mode', { type: 'string', requiresArg: true, describe: 'Mode to begin in; by default one in which the agent asks' })
    .option('tag', { type: 'string', hidden: true })
}

/** For a command that begins one conversation of its agent unless it is told which. */
export function resumeOption(line: Argv): Argv {
  return line.option('resume', {
    type: 'string',
    requiresArg: true,
    describe: 'Continue an earlier conversation of the agent, by its id'
  })
}

/** What those options and the process say, for `runAgent`. */
export function readAgentOptions(args: ArgumentsCamelCase): Omit<RunOptions, 'kind'> {
  const options = readServerOption(args)
  const tag = text(args['tag'])
  const start = takeStart(options.home.path, tag)
  return {
    ...options,
    ...start,
    directory: process.cwd(),
    mode: text(args['mode']) ?? start.mode,
    resume: text(args['resume']) ?? start.resume,
    tag,
    console: ownConsole(args)
  }
}

export function readServerOption(args: ArgumentsCamelCase): Pick<RunOptions, 'home' | 'server' | 'env' | 'terminal'> {
  return { home: openHome(process.env), server: text(args['server']), env: process.env, terminal: processTerminal() }
}

// What the daemon started has no person at its terminal.
function ownConsole(args: ArgumentsCamelCase): Console | undefined {
  return args['remote'] === true || args['tag'] !== undefined ? undefined : processConsole()
}

/** How Claude Code is found, and its adapter fetched if the person lets it. */
export function claudeOptions(
  args: ArgumentsCamelCase,
  { home, env, terminal }: Pick<RunOptions, 'home' | 'env' | 'terminal'>
): ClaudeOptions {
  return {
    home: home.path,
    env,
    mayFetch: async question => args['yes'] === true || isYes(await terminal.ask(`${question} [Y/n] `)),
    tell: line => tell(terminal, line)
  }
}

/** Undefined is nobody there to answer. */
function isYes(answer: string | undefined): boolean {
  return answer !== undefined && !/^n/i.test(answer.trim())
}

/** What an option of a whole number above 0 says. */
export function wholeNumber(args: ArgumentsCamelCase, name: string): number {
  const value = Number(args[name])
  if (Number.isInteger(value) && value > 0) return value
  throw new CannotStart(`--${name} takes a whole number above 0.`)
}

/** An argument of any number of words. Without a default of its own the help would name an empty list. */
export function anyWords(describe: string): PositionalOptions {
  return { type: 'string', default: undefined, describe }
}

/** The words of such an argument, and those behind `--`, as they were typed. */
export function wordsOf(args: ArgumentsCamelCase, name: string): string[] {
  const words: unknown[] = [args[name] ?? [], args['--'] ?? []].flat()
  // With no word at all yargs hands over one that is undefined.
  return words.filter(word => word !== undefined).map(String)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
