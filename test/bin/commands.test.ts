import { execFileSync } from 'node:child_process'
import t from 'tap'
import yargs, { type Argv } from 'yargs'
import { commands } from '../../bin/commands.ts'
import { anyWords, wordsOf } from '../../bin/wrapper-line.ts'

for (const { usage, load } of commands) {
  t.test(`no example of ${usage} wraps on an 80-column terminal`, async t => {
    const line = yargs([]).scriptName('afield').command('of', '').wrap(80)
    const help = await (await load()).builder(line).getHelp()
    const [, examples] = help.split('Examples:\n')
    for (const example of examples?.trimEnd().split('\n') ?? []) t.match(example, /^ {2}(afield|source|make;) \S.* {2}\S/)
  })
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
