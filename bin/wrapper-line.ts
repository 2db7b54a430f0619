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
    .option('mode', { type: 'string', requiresArg: true, describe: 'Mode to start in; by default the agent asks first' })
    .option('tag', { type: 'string', hidden: true })
}

/** For a command that starts a new conversation unless one is named. */
export function resumeOption(line: Argv): Argv {
  return line.option('resume', {
    type: 'string',
    requiresArg: true,
    describe: 'Continue an earlier conversation of the agent, by its ID'
  })
}

/** Those options and the process's environment, for `runAgent`. */
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

// A session started by the daemon has no person at its terminal.
function ownConsole(args: ArgumentsCamelCase): Console | undefined {
  return args['remote'] === true || args['tag'] !== undefined ? undefined : processConsole()
}

/** Finds Claude Code, and downloads its adapter if the person agrees. */
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

/** Undefined: there is no one to answer. */
function isYes(answer: string | undefined): boolean {
  return answer !== undefined && !/^n/i.test(answer.trim())
}

/** Reads an option that is a whole number above 0. */
export function wholeNumber(args: ArgumentsCamelCase, name: string): number {
  const value = Number(args[name])
  if (Number.isInteger(value) && value > 0) return value
  throw new CannotStart(`--${name} must be a whole number above 0.`)
}

/** An argument of any number of words. Without a default the help would show an empty list. */
export function anyWords(describe: string): PositionalOptions {
  return { type: 'string', default: undefined, describe }
}

/** The words of such an argument, and those after `--`, as typed. */
export function wordsOf(args: ArgumentsCamelCase, name: string): string[] {
  const words: unknown[] = [args[name] ?? [], args['--'] ?? []].flat()
  // Without any word, yargs passes one that is undefined.
  return words.filter(word => word !== undefined).map(String)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
