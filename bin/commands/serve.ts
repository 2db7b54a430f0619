import type { ArgumentsCamelCase } from 'yargs'
import { allowAddonsIn } from '../../lib/assets.ts'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { optionRows, type ServerOptions } from '../../lib/options.ts'
import { createServer, type Server } from '../../lib/server/create.ts'
import { reachableUrls } from '../../lib/server/edge/listen/reachable-urls.ts'
import { type Logger, openLogger } from '../../lib/server/watch/log.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { note, processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { separateCertificates } from '../certificates.ts'
import { openSecret } from '../config-file.ts'
import { drainOnSignal } from '../drain.ts'
import { firstSteps, listeningLine } from '../first-steps.ts'
import { answerFile, readAnswer, saveAnswer } from '../reach-answer.ts'
import { askAbout, lookAround, type Offer, offersIn, reachAdvice, type Surroundings } from '../reach-offers.ts'
import { readServerOptions, serverOptions } from '../server-options.ts'
import { startWarnings } from '../start-warnings.ts'
import { takeBackupOf } from '../take-backup.ts'
import { unknownSettings } from '../unknown-settings.ts'

export const builder = serverOptions

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  for (const unknown of unknownSettings(process.env)) note(unknown)
  const read = readServerOptions(args)
  const warning = read.file && openSecret(read.file)
  if (warning !== undefined) note(warning)
  allowAddonsIn(read.options.data)
  const terminal = processTerminal()
  if (read.reach === 'remembered') tell(terminal, asRemembered(read))
  const looking = read.reach === 'open' ? lookAround(read.options.data, Date.now()) : undefined
  const running = await start(read.options)
  drainOnSignal(() => running.server.close())
  const advice = looking && (await offerReach(args, read, running, await looking))
  const { server, options } = running
  terminal.write(`${firstSteps(server, options, terminal, advice)}\n`)
  for (const warning of startWarnings(options, server.publicUrl ?? reachableUrls(server.url)[0], Date.now())) note(warning)
  if (options.signup === 'open') note('Anyone who can reach this server can create an account. Change that with --signup.')
}

type Read = ReturnType<typeof readServerOptions>
interface Running {
  server: Server
  /** Closes it for the next one, without the log lines of an end. */
  makeWay(): Promise<void>
  options: ServerOptions
}

async function start(options: ServerOptions): Promise<Running> {
  const terminal = processTerminal()
  const { logger, quieten } = quietableLogger(options.logLevel)
  const server = await createServer({
    ...options,
    logger,
    takeBackup: takeBackupOf(options),
    certificates: separateCertificates,
    tell: sentences => tell(terminal, sentences)
  })
  void server.broken.then(reason => stopBroken(server, reason))
  await server.addressed
  terminal.write(`${listeningLine(server)}\n`)
  const makeWay = () => {
    quieten()
    return server.close()
  }
  return { server, makeWay, options }
}

/** Once quiet, it logs only what is wrong. */
function quietableLogger(level: ServerOptions['logLevel']): { logger: Logger; quieten(): void } {
  const log = openLogger(level)
  let isQuiet = false
  const logger: Logger = {
    error: (fields, message) => log.error(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    info: (fields, message) => {
      if (!isQuiet) log.info(fields, message)
    },
    debug: (fields, message) => {
      if (!isQuiet) log.debug(fields, message)
    },
    isLevelEnabled: asked => log.isLevelEnabled(asked)
  }
  const quieten = () => {
    isQuiet = true
  }
  return { logger, quieten }
}

/**
 * Offers a person at the terminal what this computer has; the server starts again with what they take. Without a person, and for what
 * they declined, returns what they can do later.
 */
async function offerReach(args: ArgumentsCamelCase, read: Read, running: Running, surroundings: Surroundings) {
  const terminal = processTerminal()
  const { data } = read.options
  const { port } = running.server
  const before = readAnswer(data)
  const offers = offersIn(surroundings, port).filter(({ name }) => !before.declined.includes(name))
  const advice = () => reachAdvice(surroundings, port, options => toSet(read, options))
  if (offers.length === 0) return advice()
  const answer = await askAbout(offers, terminal).catch(() => stopAsking(running))
  if (!answer) return advice()
  const { taken } = answer
  const declined = [...before.declined, ...answer.declined]
  saveAnswer(data, taken?.stays ? { taken: taken.options, declined } : { declined })
  tell(terminal, taken && !taken.stays ? forOneStart(taken) : `Your answer is kept in ${aboutAnswer(data)}`)
  if (!taken) return advice()
  tell(terminal, `\nStarting again with ${asFlags(taken.options)}`)
  await running.makeWay()
  try {
    // On the port that the question named, also if it was a random one.
    Object.assign(running, await start({ ...readServerOptions(args, process.env, taken.options).options, port }))
  } catch (error) {
    saveAnswer(data, before)
    throw error
  }
  return undefined
}

// Ctrl-C ends the server, as it does later.
async function stopAsking({ server }: Running): Promise<never> {
  await server.close()
  process.exit(0)
}

function asRemembered({ options, sources }: Read): string {
  const flags = optionRows().filter(({ name }) => sources.get(name)?.endsWith(answerFile(options.data)))
  const words = flags.map(({ name, flag }) => `--${flag} ${options[name as keyof ServerOptions]}`)
  return `As you answered at an earlier start: ${words.join(' ')}. Your answer is kept in ${aboutAnswer(options.data)}`
}

// Nobody opens their computer to the internet at each start by one yes, least of all for a service.
function forOneStart({ options }: Offer): string {
  return `This is for this start only; ${asFlags(options)} opens a tunnel at every start.`
}

function aboutAnswer(data: string): string {
  return `${answerFile(data)}: delete that file to be asked again. Options win over it.`
}

/** How a person sets these options for the starts to come. */
function toSet({ file, options: { data, port }, sources }: Read, options: Offer['options']): { how: string; lines: string[] } {
  const given = Object.entries(options)
  if (file) {
    const isJson = file.name.endsWith('.json')
    const lines = given.map(([flag, value]) => (isJson ? `"${flag}": "${value}"` : `${flag} = "${value}"`))
    return { how: `add this to ${file.name} and restart the server`, lines }
  }
  const same = [sources.get('data') === '--data' ? ` --data ${data}` : '', sources.get('port') === '--port' ? ` --port ${port}` : '']
  return {
    how: 'start the server with',
    lines: [`${typed('serve')} ${asFlags(options)}${same.join('')}`]
  }
}

function asFlags(options: Offer['options']): string {
  return Object.entries(options)
    .map(([flag, value]) => `--${flag} ${value}`)
    .join(' ')
}

// Thrown here, it ends the program with its exit code.
async function stopBroken(server: Server, reason: Error): Promise<never> {
  await server.close().catch(() => {})
  throw new CannotStart(`Stopped because storage failed: ${reason.message}`, exitCodes.storage, { cause: reason })
}
