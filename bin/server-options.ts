import { existsSync, readFileSync } from 'node:fs'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../lib/exit.ts'
import { type ConfigFile, optionRows, type ReadOptions, readOptions, type ServerOptions } from '../lib/options.ts'
import { systemPlaces } from '../lib/service/server-unit.ts'
import { note } from '../lib/wrapper/terminal/terminal.ts'
import { readConfigFile } from './config-file.ts'
import { answerFile, readAnswer } from './reach-answer.ts'

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

/** The option of commands that work on the data directory and are given their databases. */
export function directoryOptions(line: Argv): Argv {
  return withOptions(line, name => name === 'data')
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

type Read = ReadOptions & {
  file: ConfigFile | undefined
  /** Whether an option says how phones reach the server, the answer at an earlier start does, or nothing does. */
  reach: 'chosen' | 'remembered' | 'open'
}

/**
 * The options of a start with where each comes from, and the configuration file if there is one. Where none says how phones reach
 * the server, an answer of this start (options by their flags) or of an earlier one counts as options too.
 */
export function readServerOptions(args: ArgumentsCamelCase, env: Env = process.env, answered?: object): Read {
  const path = typeof args['config'] === 'string' ? args['config'] : env[configVariable]
  const file = path ? readConfigFile(path) : undefined
  const read = readOptions(args, withSecrets(env), file)
  const sources = new Map([...read.sources].map(([name, source]) => [name, env[`${source}_FILE`] ? `${source}_FILE` : source] as const))
  if (aboutReach.some(name => sources.has(name))) return { ...read, sources, file, reach: 'chosen' }
  const taken = answered ?? readAnswer(read.options.data).taken
  if (!taken) return { ...read, sources, file, reach: 'open' }
  const answers = { name: answerFile(read.options.data), values: new Map(Object.entries(taken)) }
  const values = new Map([...(file?.values ?? []), ...answers.values])
  const { options } = readOptions(args, withSecrets(env), { name: answers.name, values })
  for (const { name, flag } of optionRows()) if (answers.values.has(flag)) sources.set(name, `${flag} in ${answers.name}`)
  return { options, sources, file, reach: 'remembered' }
}

/** Any of these makes clear who is to reach the server. */
const aboutReach = ['host', 'socket', 'publicUrl', 'https', 'tunnel', 'tlsCert', 'insecureHttp', 'trustProxy', 'dev']

export function readDataOptions(args: ArgumentsCamelCase): Pick<ServerOptions, 'data' | 'store'> {
  const { options, sources } = readServerOptions(args)
  const { data, store } = options
  const source = sources.get('data')
  // One that was typed is on the screen already.
  if (source !== undefined && source !== '--data') note(`Data directory: ${data} (from ${source})`)
  const hint = source === undefined ? serviceHint(data) : undefined
  if (hint !== undefined) note(hint)
  return { data, store }
}

/** For a person who has no data of their own here, and probably means the server that runs as a service. */
export function serviceHint(data: string, config: string = systemPlaces.config): string | undefined {
  if (existsSync(data) || !existsSync(config)) return undefined
  return `For the server that runs as a service here, add as root: --config ${config}`
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
