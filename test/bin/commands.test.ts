import { execFileSync } from 'node:child_process'
import t from 'tap'
import yargs, { type Argv } from 'yargs'
import { commands } from '../../bin/commands.ts'
import { anyWords, wordsOf } from '../../bin/wrapper-line.ts'
import { optionRows } from '../../lib/options.ts'

for (const { usage, load } of commands) {
  t.test(`no example of ${usage} wraps on an 80-column terminal`, async t => {
    const line = yargs([]).scriptName('afield').command('of', '').wrap(80)
    const help = await (await load()).builder(line).getHelp()
    const [, examples] = help.split('Examples:\n')
    for (const example of examples?.trimEnd().split('\n') ?? []) t.match(example, /^ {2}(afield|source|make;) \S.* {2}\S/)
  })
}

const agent = '--server text, --mode text, --resume text, prompt text, --remote'
const taken: Record<string, string> = {
  serve: 'all of the server',
  service: 'action install|uninstall|status, --config text, --dry-run',
  config: 'all of the server, action show|check, --json',
  users: 'config+data+store of the server, action list|approve|reject|remove, who text, --yes -y',
  invite: 'config+data+store+public-url of the server, action create|list|revoke, what text',
  token: 'config+data+store of the server, action create|list|revoke, what text, --account text, --scope text (read), --days number',
  backup: 'config+data+store of the server, --passphrase-file text, target text',
  restore: 'config+data+store of the server, --passphrase-file text, file text, --force',
  'migrate-store': 'config+data of the server, from text, to text',
  'import-happy': 'config+data+store of the server, database text, --attachments text, --owner text, --check',
  upgrade: 'config+data+store of the server, source text, --trial (true), --ready-within number (60)',
  rollback: 'config+data+store of the server, --discard-newer-data',
  login: '--server text, --happy',
  logout: '--server text, --yes -y',
  claude: `${agent}, --yes -y`,
  codex: agent,
  opencode: agent,
  run: '--server text, --mode text, --resume text, agent text',
  demo: '--server text, --mode text, --resume text, prompt text, --folder text',
  resume: 'words text, --mode text, --remote, --yes -y',
  adopt: '--server text, --mode text, words text, --remote, --yes -y',
  sessions: 'words text, --json',
  daemon: '--server text, action start|stop|status|logs|install|uninstall|run, --lines number (50), --follow -f, --keep-awake',
  allow: 'path text, --list, --remove',
  doctor: 'all of the server, --json',
  flush: '--seconds number (60)',
  notify: '--server text, words text, --session text',
  push: '--server text, action status|test|add|remove (status), what text, address text, --ntfy-token text',
  help: 'topic text',
  completion: 'shell bash|zsh|fish'
}

t.test('these are the arguments and options of each command, and each is described', async t => {
  const own = commands.filter(({ about }) => about !== false)
  const shown = await Promise.all(
    own.map(async ({ usage, load }) => {
      const line = (await load()).builder(yargs([]).scriptName('afield').command(usage, ''))
      return [usage.split(' ')[0], takenBy(line as Argv & Parser, usage)]
    })
  )
  t.strictSame(Object.fromEntries(shown), taken)
})

function takenBy(line: Argv & Parser, usage: string): string {
  const { key, hiddenOptions, alias, default: defaults, choices, narg, boolean, number, string } = line.getOptions()
  const descriptions = line.getInternalMethods().getUsageInstance().getDescriptions()
  const others = new Set([...hiddenOptions, ...Object.values(alias).flat(), 'help', 'version'])
  const names = Object.keys(key).filter(name => !others.has(name))
  const isOfServer = (name: string) => serverNames.has(name) && (names.includes('data') || name !== 'config')
  const ofServer = names.filter(isOfServer)
  const shown = (name: string) => {
    const isArgument = new RegExp(`[<[]${name}\\b`).test(usage)
    const value = choices[name]?.join('|') ?? (number.includes(name) ? 'number' : string.includes(name) ? 'text' : '')
    return [
      isArgument ? name : `--${name}`,
      ...(alias[name] ?? []).map(letter => `-${letter}`),
      value,
      defaults[name] !== undefined && `(${defaults[name]})`,
      !isArgument && name in narg !== (value !== '') && 'which may stand without a value',
      value === '' && !boolean.includes(name) && 'of any type',
      !descriptions[name] && 'without a description'
    ]
      .filter(Boolean)
      .join(' ')
  }
  const server = ofServer.length === serverNames.size ? 'all' : ofServer.join('+')
  return [...(server ? [`${server} of the server`] : []), ...names.filter(name => !isOfServer(name)).map(shown)].join(', ')
}

const serverNames = new Set(['config', ...optionRows().map(({ flag }) => flag)])

/** With what is missing in its types. */
interface Parser {
  getOptions(): {
    key: object
    hiddenOptions: string[]
    alias: Record<string, string[]>
    default: Record<string, unknown>
    choices: Record<string, string[]>
    narg: object
    boolean: string[]
    number: string[]
    string: string[]
  }
  getInternalMethods(): { getUsageInstance(): { getDescriptions(): Record<string, string> } }
}

// `help --help` shows the help of the whole program.
for (const { usage, load } of commands.filter(({ usage }) => !usage.startsWith('help'))) {
  t.test(`the help of ${usage} shows no meaningless defaults`, async t => {
    const builder = (await load()).builder
    const line = yargs([])
      .scriptName('afield')
      .command({ command: usage, builder, handler() {} })
    const [name = ''] = usage.split(' ')
    const help = await new Promise<string>(
      resolve => void line.parse([name, '--help'], (_: unknown, __: unknown, help: string) => resolve(help))
    )
    t.match(help, new RegExp(`^afield ${name}`))
    t.notMatch(help, /default: (\[\]|false|undefined|null|"")/)
  })
}

t.test('npm start --help shows the help of the server, and without npm it lists the commands', t => {
  const help = (env: NodeJS.ProcessEnv) => execFileSync(process.execPath, ['build.mjs', 'start', '--help'], { encoding: 'utf8', env })
  const { npm_lifecycle_event: _, ...env } = process.env
  t.match(help({ ...env, npm_lifecycle_event: 'start' }), /--public-url/)
  t.match(help(env), /^ {2}\S+ login /m)
  t.end()
})

t.test('commands that start a new conversation offer --resume, and those that pick one do not', async t => {
  const offering = []
  for (const { usage, load } of commands) {
    const line = (await load()).builder(yargs([]).scriptName('afield').command('of', ''))
    if (/^ *--resume\b/m.test(await line.getHelp())) offering.push(usage.split(' ')[0])
  }
  t.strictSame(offering, ['claude', 'codex', 'opencode', 'run', 'demo'])
})

t.test('arguments are passed as typed, and may be absent', async t => {
  const typed: string[][] = []
  const builder = (line: Argv) => line.positional('prompt', anyWords('x'))
  for (const argv of [[], ['plant', 'apples'], ['--', 'and pears']]) {
    const line = yargs(['claude', ...argv]).parserConfiguration({ 'populate--': true })
    await line.command({ command: 'claude [prompt..]', builder, handler: args => void typed.push(wordsOf(args, 'prompt')) }).parseAsync()
  }
  t.strictSame(typed, [[], ['plant', 'apples'], ['and pears']])
})
