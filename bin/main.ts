import { writeFileSync } from 'node:fs'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { NoPlaceForAddons } from '../lib/assets.ts'
import { CannotStart, exitCodes } from '../lib/exit.ts'
import { folded } from '../lib/wrapper/terminal/style.ts'
import { surviveClosedOutput } from './closed-output.ts'
import { commands } from './commands.ts'
import { readStartedLine } from './started-line.ts'
import { misuse, refuseBareOption, refuseUnknownCommand } from './usage-errors.ts'

/** Runs one command line. Every way it can fail ends in one sentence and the exit code of lib/exit.ts. */
export async function main(typed: string[]): Promise<void> {
  const argv = asOptions(typed)
  process.on('uncaughtException', stop)
  // Node.js calls its first thread MainThread, and `ps` and `top` would show us under that name.
  if (process.platform === 'linux') nameProcess()
  // Programs started by Afield itself write only to their parent, and end with it.
  if (commands.find(({ usage }) => usage.split(' ')[0] === argv[0])?.about !== false) surviveClosedOutput()
  // Socket.IO's client checks for a global WebSocket, and uses `ws` here; for that check alone Node.js would load all its
  // code for `fetch`.
  Reflect.deleteProperty(globalThis, 'WebSocket')
  try {
    // Before any command's own imports, some of which crash an unsupported Node.js.
    await import('../lib/node-version.ts')
    refuseUnknownCommand(argv)
    const started = readStartedLine(argv)
    const command = commands.find(({ usage }) => usage.split(' ')[0] === started?.name)
    if (started && command) return await (await command.load()).handler(started.args)
    await (await commandLine(argv)).parseAsync()
  } catch (error) {
    // Some errors of yargs bypass `fail`, under a name of its own.
    stop(error instanceof Error && error.name === 'YError' ? misuse(error.message, argv) : error)
  }
}

function nameProcess(): void {
  try {
    writeFileSync('/proc/self/comm', 'afield')
  } catch {}
}

/** `help` and `version` work as words and as options: programs differ in which they use. */
function asOptions(typed: string[]): string[] {
  const [word, topic] = typed
  if (word === 'version') return ['--version', ...typed.slice(1)]
  const isAboutCommand = topic === undefined || topic.startsWith('-') || commands.some(({ usage }) => usage.split(' ')[0] === topic)
  return word === 'help' && isAboutCommand ? [...typed.slice(1), '--help'] : typed
}

async function commandLine(argv: string[]): Promise<Argv> {
  const [{ default: yargs }, { programNameAt, version }, { helpPages }] = await Promise.all([
    import('yargs'),
    import('../lib/assets.ts'),
    import('../lib/help-pages.ts')
  ])
  const line: Argv = yargs(argv)
    .scriptName('afield')
    .parserConfiguration({ 'populate--': true })
    .usage('Keeps your coding agents working while you are afield.\n\n$0 <command>')
    .strict()
    .demandCommand(1, '')
    .version(version())
    .help()
    .alias('help', 'h')
    .updateStrings({ array: 'words', 'Positionals:': 'Arguments:' })
    .wrap(Math.min(120, process.stdout.columns ?? 80))
    .example('$0 serve', 'the server, on http://127.0.0.1:3005')
    .example('$0 login', 'link this computer to the server at --server')
    .example('$0 claude', 'Claude Code here and on your phone')
    .epilogue(epilogue(programNameAt(), helpPages))
    .middleware(keepLast, true)
    .fail(refuseFor(argv, () => optionsOf(reached)))
  // The usage line of the given command.
  let reached = line
  for (const { usage, about, load } of commands) {
    line.command({
      command: usage,
      describe: about,
      builder: async (own: Argv) => {
        reached = own
        return (await load()).builder(own)
      },
      handler: async (args: ArgumentsCamelCase) => (await load()).handler(args)
    })
  }
  // It prepares the help of each command that runs, in case that another line is parsed later.
  const usage = (line as Parser).getInternalMethods().getUsageInstance()
  usage.cacheHelpMessage = () => {}
  return line
}

/** `program`: what a person types here for `afield`. */
function epilogue(program: string, pages: readonly string[]): string {
  return [
    `${program} <command> --help shows the options of a command.`,
    `${program} help <page> shows a page of the manual: ${pages.join(', ')}.`
  ].join('\n')
}

const lists = new Set(['_', '--', ...commands.flatMap(({ usage }) => /(\w+)\.\./.exec(usage)?.[1] ?? [])])

// The last value of a repeated option counts, so that a script can append its own to a person's.
function keepLast(args: ArgumentsCamelCase): void {
  for (const [name, value] of Object.entries(args)) {
    if (Array.isArray(value) && !lists.has(name)) args[name] = value.at(-1)
  }
}

function refuseFor(argv: readonly string[], options: () => string[]) {
  return (complaint: string | null, error: Error | undefined, line: Argv): never => {
    if (error) throw error
    if (complaint) throw misuse(complaint, argv, options())
    refuseBareOption(argv, options())
    line.showHelp()
    process.exit(exitCodes.configuration)
  }
}

function optionsOf(line: Argv): string[] {
  return Object.keys((line as Parser).getOptions().key)
}

/** With what is missing in its types. */
type Parser = Argv & {
  getOptions(): { key: object }
  getInternalMethods(): { getUsageInstance(): { cacheHelpMessage(): void } }
}

function stop(thrown: unknown): never {
  const error = thrown instanceof NoPlaceForAddons ? new CannotStart(thrown.message) : thrown
  if (error instanceof CannotStart) {
    const { columns } = process.stderr
    // A file, or another program, gets it unchanged.
    console.error(columns ? folded(error.message, columns) : error.message)
    process.exit(error.exitCode)
  }
  console.error(error)
  process.exit(exitCodes.bug)
}
