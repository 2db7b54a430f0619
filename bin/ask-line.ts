import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../lib/exit.ts'
import { optionRows, readOptions, type ServerOptions } from '../lib/options.ts'
import { typed } from '../lib/wrapper/home/own-process.ts'

const own = ['data', 'store']

/** The data-directory option of every command that talks to a running server. */
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

/** The server's refusal, with the command that lists valid names. */
export async function pointingTo<T>(list: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof CannotStart) || error.exitCode !== 1) throw error
    throw new CannotStart(`${error.message.replace(/\w$/, '$&.')} See the list with:\n  ${typed(list)}`, 1, { cause: error })
  }
}
