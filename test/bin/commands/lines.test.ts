import t from 'tap'
import yargs, { type ArgumentsCamelCase } from 'yargs'
import { commands } from '../../../bin/commands.ts'

/** The options of a command as its handler gets them, or the complaint about its line. */
async function parsed(words: string): Promise<ArgumentsCamelCase | string> {
  let got: ArgumentsCamelCase | string = 'nothing ran'
  const { line, run } = await commandOf(words.split(' '), args => {
    got = args
  })
  line.fail((complaint, error) => {
    throw error ?? new Error(complaint)
  })
  await run().catch(error => {
    got = error instanceof Error ? error.message : String(error)
  })
  return got
}

async function commandOf(words: readonly string[], handler: (args: ArgumentsCamelCase) => void) {
  const command = commands.find(({ usage }) => usage.split(' ')[0] === words[0])
  if (!command) throw new TypeError(`there is no command ${words[0]}`)
  const { builder } = await command.load()
  const line = yargs().scriptName('afield').parserConfiguration({ 'populate--': true }).strict().exitProcess(false).wrap(200)
  line.command({ command: command.usage, describe: command.about, builder: own => builder(own), handler })
  return { line, run: async () => line.parseAsync([...words]) }
}

async function helpOf(command: string): Promise<string> {
  const { line } = await commandOf([command], () => {})
  let shown = ''
  await line.parse([command, '--help'], {}, (_, __, output) => {
    shown = output
  })
  return shown
}

t.test('what is typed reaches a command as its handler reads it: switches take no value, and others are text', async t => {
  const cases: [line: string, args: Record<string, unknown>][] = [
    ['claude --remote Prune it --mode 7 --server 8 --tag 9', { remote: true, prompt: ['Prune', 'it'], mode: '7', server: '8', tag: '9' }],
    ['claude --yes Prune --resume 10', { yes: true, prompt: ['Prune'], resume: '10' }],
    ['claude -y Prune', { yes: true, prompt: ['Prune'] }],
    ['codex --remote Prune --resume 10', { remote: true, prompt: ['Prune'], resume: '10' }],
    ['run --resume 10 gemini --acp', { resume: '10', agent: ['gemini', '--acp'] }],
    ['run -- gemini --mode x', { '--': ['gemini', '--mode', 'x'], mode: undefined }],
    ['resume --remote login page --mode 7 --tag 9', { remote: true, words: ['login', 'page'], mode: '7', tag: '9' }],
    ['resume --yes 007', { yes: true, words: ['007'] }],
    ['resume -y 1', { yes: true }],
    ['adopt --remote login --mode 7', { remote: true, words: ['login'], mode: '7' }],
    ['adopt --yes login', { yes: true, words: ['login'] }],
    ['adopt -y login', { yes: true }],
    ['push', { action: 'status' }],
    ['push remove 1', { action: 'remove', what: '1' }],
    ['push add ntfy 5 --ntfy-token 6 --server 8', { what: 'ntfy', address: '5', ntfyToken: '6', server: '8' }],
    ['users --yes remove 12', { yes: true, action: 'remove', who: '12' }],
    ['users -y remove 12 --data 7 --store 8 --config 9', { yes: true, data: '7', store: '8', config: '9' }],
    ['invite create 12 --public-url 7', { action: 'create', what: '12', publicUrl: '7' }],
    ['token create 12', { what: '12', scope: 'read', days: undefined, account: undefined }],
    ['token create ci --account 7 --scope 8 --days 9', { account: '7', scope: '8', days: 9 }],
    ['config --json show --config 9', { json: true, action: 'show', config: '9' }],
    ['service --dry-run install --config 9', { dryRun: true, action: 'install', config: '9' }],
    ['restore --force 12', { force: true, file: '12' }],
    ['rollback --discard-newer-data --data 7', { discardNewerData: true, data: '7' }],
    ['upgrade 12', { source: '12', trial: true, readyWithin: 60 }],
    ['upgrade --no-trial 12 --ready-within 9', { source: '12', trial: false, readyWithin: 9 }],
    ['help 12', { topic: '12' }],
    ['serve --port 80 --insecure-http --signup open --host 9', { port: 80, insecureHttp: true, signup: 'open', host: '9' }]
  ]
  for (const [line, expected] of cases) {
    const args = await parsed(line)
    if (typeof args === 'string') t.fail(`${line}: ${args}`)
    else t.strictSame(Object.fromEntries(Object.keys(expected).map(name => [name, args[name]])), expected, line)
  }
})

t.test('an option without the value that it needs is refused', async t => {
  const cases: [command: string, options: string[]][] = [
    ['claude', ['server', 'mode', 'resume']],
    ['resume', ['mode']],
    ['push', ['ntfy-token', 'server']],
    ['users', ['config', 'data', 'store']],
    ['invite', ['public-url']],
    ['token', ['account', 'scope', 'days']],
    ['service', ['config']],
    ['upgrade x', ['ready-within']],
    ['serve', ['config', 'port', 'data', 'signup', 'store', 'https']]
  ]
  for (const [command, options] of cases)
    for (const option of options)
      t.match(await parsed(`${command} --${option}`), new RegExp(`^Not enough arguments following: ${option}$`), `${command} --${option}`)
})

t.test('what a command can do is one of a few words, and what it has not is unknown', async t => {
  for (const line of ['push bogus', 'users bogus', 'invite bogus', 'token bogus', 'config bogus', 'service bogus', 'serve --signup bogus'])
    t.match(await parsed(line), /^Invalid values:/, line)
  for (const line of ['users --port 1', 'rollback --signup open', 'upgrade x --host y', 'codex --yes'])
    t.match(await parsed(line), /^Unknown arguments?: /, line)
})

t.test('the help of a command has its examples and what is usual, and not what is for the program itself', async t => {
  for (const command of ['claude', 'resume']) t.notMatch(await helpOf(command), /--tag\b/, command)
  const serve = await helpOf('serve')
  t.match(serve, /--port .*\[number\]/)
  t.match(serve, /--data .*\[default: /)
  t.match(serve, /--signup .*\[AFIELD_SIGNUP\]\s+\[choices: "owner", "approve", "invite", "open", "closed"\]/)
  t.match(
    await helpOf('users'),
    /--config .*any of the server's options, as TOML or JSON; flags and variables win over it \[AFIELD_CONFIG\]/s
  )
  for (const [command, example] of [
    ['push', 'afield push test'],
    ['users', 'afield users approve lusab-babad-…'],
    ['adopt', 'afield adopt login page'],
    ['run', 'afield run gemini --acp'],
    ['config', 'afield config check --config afield.toml'],
    ['service', 'afield service install --dry-run'],
    ['upgrade', 'afield upgrade ./afield-0.2.0']
  ] as const)
    t.ok((await helpOf(command)).includes(`  ${example} `), example)
})

t.test('the help of every command says what each option and argument is for, and its examples can be typed', async t => {
  for (const { usage, about } of commands) {
    if (about === false) continue
    const name = usage.split(' ')[0] ?? usage
    const lines = (await helpOf(name)).split('\n')
    const undescribed = lines.filter(line => /^ {2}(-\w, +)?(--)?[\w-]+ +\[/.test(line))
    t.strictSame(undescribed, [], name)
    const examples = lines.slice(lines.indexOf('Examples:') + 1)
    if (lines.includes('Examples:'))
      t.strictSame(
        examples.filter(line => /^ {0,7}\S/.test(line) && !/^.*afield /.test(line.trim().split('  ', 1)[0] ?? '')),
        [],
        name
      )
  }
})
