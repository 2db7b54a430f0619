import type { ArgumentsCamelCase, Argv } from 'yargs'
import { optionRows, readOptions, type ServerOptions } from '../lib/options.ts'

const own = ['data', 'store']

/** Options of every command that asks the server of a data directory: where that is. */
export function dataOptions(line: Argv): Argv {
  for (const { flag, kind, about, env, defaultHere } of optionRows().filter(({ name }) => own.includes(name))) {
    line.option(flag, {
      type: kind,
      describe: `${about} [${env}]`,
      requiresArg: true,
      ...(defaultHere !== undefined && { defaultDescription: defaultHere })
    })
  }
  return line
}

export function readDataOptions(args: ArgumentsCamelCase): Pick<ServerOptions, 'data' | 'store'> {
  const { data, store } = readOptions({ data: args['data'], store: args['store'] }, process.env)
  return { data, store }
}
