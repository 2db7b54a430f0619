import { readFileSync } from 'node:fs'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../lib/exit.ts'
import { type ConfigFile, optionRows, type ReadOptions, readOptions, type ServerOptions } from '../lib/options.ts'
import { readConfigFile } from './config-file.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The variable that names the configuration file. */
export const configVariable = 'AFIELD_CONFIG'

/** Every option of the server. */
export function serverOptions(line: Argv): Argv {
  return withOptions(line, () => true)
}

/** The options of every command that talks to a running server. */
export function dataOptions(line: Argv): Argv {
  return withOptions(line, name => name === 'data' || name === 'store')
}

function withOptions(line: Argv, isOwn: (name: string) => boolean): Argv {
  line.option('config', {
    type: 'string',
    requiresArg: true,
    describe: `File with any of the server's options, as TOML or JSON; flags and variables win over it [${configVariable}]`
  })
  for (const { name, flag, kind, choices, about, env, defaultHere } of optionRows()) {
    if (!isOwn(name)) continue
    line.option(flag, {
      // The choices explain it better, and both do not fit on a line.
      type: choices ? undefined : kind,
      describe: `${about} [${env}]`,
      requiresArg: kind !== 'boolean',
      ...(choices && { choices }),
      ...(defaultHere !== undefined && { defaultDescription: defaultHere })
    })
  }
  return line
}

/** The options of a start with where each comes from, and the configuration file if there is one. */
export function readServerOptions(args: ArgumentsCamelCase, env: Env = process.env): ReadOptions & { file: ConfigFile | undefined } {
  const path = typeof args['config'] === 'string' ? args['config'] : env[configVariable]
  const file = path ? readConfigFile(path) : undefined
  const { options, sources } = readOptions(args, withSecrets(env), file)
  const named = [...sources].map(([name, source]) => [name, env[`${source}_FILE`] ? `${source}_FILE` : source] as const)
  return { options, sources: new Map(named), file }
}

export function readDataOptions(args: ArgumentsCamelCase): Pick<ServerOptions, 'data' | 'store'> {
  const { data, store } = readServerOptions(args).options
  return { data, store }
}

/** The variables that name a file with a secret. */
export function secretFileVariables(): string[] {
  return optionRows().flatMap(({ env, isSecret }) => (isSecret ? [`${env}_FILE`] : []))
}

/** With the secrets from the files that variables name. */
function withSecrets(env: Env): Env {
  const secrets = secretFileVariables().flatMap(variable => {
    const path = env[variable]
    const own = variable.slice(0, -'_FILE'.length)
    if (!path) return []
    if (env[own]) throw new CannotStart(`${own} and ${variable} cannot both be set.`)
    return [[own, readSecret(path, variable)]]
  })
  return { ...env, ...Object.fromEntries(secrets) }
}

function readSecret(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new CannotStart(`The file ${path} of ${variable} cannot be read.`, undefined, { cause: error })
  }
}
