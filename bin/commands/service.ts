import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { runTool, saveDefinition } from '../../lib/service/manager.ts'
import { findServerService, type ServerService } from '../../lib/service/server-service.ts'
import { firstConfig, systemPlaces } from '../../lib/service/server-unit.ts'
import { ownProgram, typed } from '../../lib/wrapper/home/own-process.ts'
import { note, processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { readServerOptions } from '../server-options.ts'

/** Each returns the exit code. */
export const actions = { install, uninstall, status } as const

export function builder(line: Argv): Argv {
  return line
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is status' })
    .option('config', { type: 'string', requiresArg: true, describe: "File with the server's options, as TOML or JSON" })
    .option('dry-run', { type: 'boolean', describe: 'With install: print the service definition and change nothing' })
    .example('$0 service install', 'start it with your session; as root at boot')
    .example('$0 service install --dry-run', 'show what that would write')
}

export function handler(args: ArgumentsCamelCase): void {
  const action = actions[(args['action'] ?? 'status') as keyof typeof actions]
  const service = findServerService(process.env)
  const config = typeof args['config'] === 'string' ? resolve(args['config']) : service.config
  process.exitCode = action({ ...service, config }, args['dry-run'] === true)
}

function install(service: ServerService, isDry: boolean): number {
  const { manager, config, isUntried } = service
  const { command, args } = ownProgram(['serve', '--config', config])
  const definition = service.definition([command, ...args])
  if (isUntried) note('Not run: this was written for this system, but nobody has tried it on one yet.')
  if (isDry) {
    process.stdout.write(definition)
    return 0
  }
  manager.refuseIfUnable(anotherWay(config))
  if (service.user) refuseHiddenProgram([command, ...args])
  service.prepare()
  const isNew = !existsSync(config)
  if (isNew) writeConfig(service)
  const data = dataIn(config)
  manager.install(definition)
  say(`The server is running now and starts ${service.starts}, as set in ${manager.file}.
Its options are in ${config}${isNew ? ', which is new' : ''}; after a change: ${service.restart}
It stores everything in ${data}. Its log: ${service.log}
${service.hint ? `${service.hint}\n` : ''}Undo this with:
  ${typed('service uninstall')}`)
  return 0
}

function uninstall({ manager, config, starts }: ServerService): number {
  if (!existsSync(manager.file)) {
    say('The server is not installed as a service.')
    return 0
  }
  manager.refuseIfUnable(`Remove it yourself with:\n  rm ${manager.file}`)
  manager.uninstall()
  say(`The server has stopped and no longer starts ${starts}. ${remains(config)}`)
  return 0
}

/** Exits with 3 if it is not running, like service commands. */
function status(service: ServerService): number {
  const { manager, config, log } = service
  if (!existsSync(manager.file)) {
    say(`The server is not installed as a service. ${whyUnable(service) ?? `Install it with:\n  ${typed('service install')}`}`)
    return 3
  }
  const isRunning = manager.isRunning()
  say(`The server is ${isRunning ? 'running' : 'not running'}.
  Service  ${manager.file}
  Options  ${config}
  Data     ${dataIn(config)}
  Log      ${log}`)
  return isRunning ? 0 : 3
}

function whyUnable({ manager, config }: ServerService): string | undefined {
  try {
    manager.refuseIfUnable(anotherWay(config))
    return undefined
  } catch (error) {
    if (error instanceof CannotStart) return error.message
    throw error
  }
}

function anotherWay(config: string): string {
  return `Start the server in another way, with:\n  ${typed(existsSync(config) ? `serve --config ${config}` : 'serve')}`
}

/** The service has no variables of this shell, so they do not count. Throws if the options are not valid. */
function dataIn(config: string): string {
  return readServerOptions({ _: [], $0: '', config }, {}).options.data
}

// Who removed a service may have removed its options before.
function remains(config: string): string {
  if (!existsSync(config)) return 'Its data are where they were.'
  return `Its data stay in ${dataIn(config)}, and its options in ${config}.`
}

function refuseHiddenProgram(words: readonly string[]): void {
  const hidden = words.find(word => /^\/(?:home|root|tmp|var\/tmp|run\/user)\//.test(word))
  if (hidden === undefined) return
  throw new CannotStart(
    `The service runs as a user of its own, who cannot see ${hidden}. Move the program first, for example to /usr/local/bin or /opt.`
  )
}

function writeConfig({ config, data, user, restart }: ServerService): void {
  const { data: usual } = readServerOptions({ _: [], $0: '' }, {}).options
  const stored = data ?? usual
  const logs = user ? systemPlaces.logs : stored
  saveDefinition(config, firstConfig(stored, restart, join(logs, 'security.log')), user ? 0o640 : 0o600)
  if (user) runTool('chown', [`root:${user}`, config])
}

function say(sentences: string): void {
  tell(processTerminal(), sentences)
}
