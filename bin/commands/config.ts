import type { ArgumentsCamelCase, Argv } from 'yargs'
import { optionRows, shownValue } from '../../lib/options.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, processTerminal } from '../../lib/wrapper/terminal/terminal.ts'
import { openSecret } from '../config-file.ts'
import { readServerOptions, serverOptions } from '../server-options.ts'
import { drawTable } from '../table.ts'
import { unknownSettings } from '../unknown-settings.ts'

type Read = ReturnType<typeof readServerOptions>

const actions = { show, check } as const

export function builder(line: Argv): Argv {
  return serverOptions(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is show' })
    .option('json', { type: 'boolean', describe: 'With show: print the options as JSON' })
    .example('$0 config', 'each option and its source')
    .example('$0 config check --config afield.toml', 'try the options of a file')
}

export function handler(args: ArgumentsCamelCase): void {
  for (const unknown of unknownSettings(process.env)) note(unknown)
  const read = readServerOptions(args)
  const warning = read.file && openSecret(read.file)
  if (warning !== undefined) note(warning)
  actions[(args['action'] ?? 'show') as keyof typeof actions](read, args['json'] === true)
}

/** Throws what `serve` would throw, before this. */
function check({ sources, file }: Read): void {
  const withFile = file ? `, with those of ${file.name}` : ''
  console.log(`The options are valid. Set: ${sources.size}${withFile}; the others have their defaults.`)
}

function show({ options, sources }: Read, isJson: boolean): void {
  const rows = optionRows().map(row => ({
    flag: row.flag,
    value: shownValue(row, options[row.name as keyof typeof options]),
    from: sources.get(row.name)?.replace(`${row.flag} in `, '') ?? 'default'
  }))
  if (isJson) {
    console.log(JSON.stringify(Object.fromEntries(rows.map(({ flag, ...row }) => [flag, row])), undefined, 2))
    return
  }
  const terminal = processTerminal()
  const cells = rows.map(({ flag, value, from }) => [flag, value === undefined ? '' : String(value), from])
  process.stdout.write(drawTable(['option', 'value', 'from'], cells, styleFor(terminal, process.env), terminal.columns))
}
