import t from 'tap'
import yargs from 'yargs'
import { commands } from '../../bin/commands.ts'

for (const { usage, load } of commands) {
  t.test(`no example of ${usage} is broken on a terminal of 80 columns`, async t => {
    const line = yargs([]).scriptName('afield').command('of', '').wrap(80)
    const help = await (await load()).builder(line).getHelp()
    const [, examples] = help.split('Examples:\n')
    for (const example of examples?.trimEnd().split('\n') ?? []) t.match(example, /^ {2}(afield|source|make;) \S.* {2}\S/)
  })
}

for (const { usage, load } of commands) {
  t.test(`the help of ${usage} names no default that says nothing`, async t => {
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
