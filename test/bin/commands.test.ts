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
