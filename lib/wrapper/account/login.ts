import { readFileSync } from 'node:fs'
import { hostname, platform, userInfo, version } from 'node:os'
import { type Clock, systemClock } from '../../async/clock.ts'
import { Refused, type Unreachable } from '../../client/link/refusals.ts'
import { createRest, type Fetch } from '../../client/link/rest.ts'
import { createRetrier } from '../../client/link/retry.ts'
import type { TerminalKeys } from '../../client/sealed/vault.ts'
import { startLinking } from '../../client/sign-in/linking.ts'
import { type PairingOptions, startPairing, terminalKeys } from '../../client/sign-in/pairing.ts'
import { equalBytes } from '../../crypto/bytes.ts'
import { cryptoReady } from '../../crypto/ready.ts'
import { CannotStart } from '../../exit.ts'
import type { AskerAbout } from '../../protocol/sealed/asker.ts'
import { type Credentials, chooseServer, type Home, needCredentials } from '../home/credentials.ts'
import { registerMachine } from '../home/machine.ts'
import { typed } from '../home/own-process.ts'
import { plain, type Style, styleFor, wrapped } from '../terminal/style.ts'
import { openBlock, type Terminal, tell } from '../terminal/terminal.ts'
import { fetch } from '../uplink/network.ts'
import { certificateTrouble, codeOf, whyUnreachable } from './connection-errors.ts'
import { linkScreen } from './link-screen.ts'
import { anyServerHere, serverAtUsualPort, serverHere } from './server-here.ts'

interface LoginOptions {
  home: Home
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  /** Pairs like existing Happy apps, which have no check code. */
  forHappy: boolean
  clock?: Clock | undefined
}

type LoginEnd = { type: 'paired'; linked: Omit<Credentials, 'server'> } | { type: 'expired' } | { type: 'unreadable' }

/** A request that the server has. */
interface Request {
  link: string
  /** Four digits that the phone asks for. */
  checkCode?: string
  /** `happy://…`, for requests that Happy's apps can answer. */
  happyLink?: string
  wait(): Promise<LoginEnd>
}

/**
 * Links this computer to an account, and says what can be done next. Resolves to the exit code; throws
 * CannotStart if it was not linked.
 */
export async function login(options: LoginOptions): Promise<number> {
  const server = await askForServer(options)
  await linkComputer({ ...options, server })
  options.terminal.write(nextCommands())
  return 0
}

/**
 * What this computer may do on the server of a run. If it is not linked there, shows a code and waits until a phone
 * has linked it. Throws CannotStart if nobody reads the output, or it was not linked.
 */
export async function linkFirst(options: Omit<LoginOptions, 'forHappy'>): Promise<Credentials> {
  const { home, env, terminal } = options
  const server = await askForServer(options)
  if (!terminal.isTTY) return needCredentials(home, server)
  return home.credentials(server) ?? linkComputer({ home, server, env, terminal, forHappy: false })
}

/** Like `chooseServer`; if no server is named, takes the one that runs here, or asks a person; Enter takes another user's here. */
async function askForServer({ server, env, home, terminal }: Omit<LoginOptions, 'forHappy'>): Promise<string> {
  if (server || env['AFIELD_SERVER'] || home.server) return chooseServer(server, env, home)
  const here = await serverHere(env)
  if (here !== undefined) return here
  const usual = await serverAtUsualPort(env)
  const example = usual === undefined ? 'such as https://home.example' : `or press Enter for ${usual}, which runs on this computer`
  for (;;) {
    const said = await terminal.ask(`Which server? Type the address at which you open Afield, ${example}\n> `)
    if (said === undefined) throw noServerGiven(usual)
    if (said.trim() === '' && usual !== undefined) return usual
    if (said.trim() === '') continue
    try {
      return chooseServer(said.trim(), env, home)
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error
      tell(terminal, error.message)
    }
  }
}

function noServerGiven(usual = '<address>'): CannotStart {
  return new CannotStart(`No server is known yet. Give the address at which you open Afield:\n  ${typed(`login --server ${usual}`)}`)
}

/** Shows a code and waits until a phone answers it. Throws CannotStart if it does not. */
async function linkComputer(options: LoginOptions & { server: string }): Promise<Credentials> {
  const { home, env, terminal, server } = options
  const style = styleFor(terminal, env)
  const again = typed(`login --server ${server}${options.forHappy ? ' --happy' : ''}`)
  await cryptoReady()
  const end = await pair(server, style, options)
  switch (end.type) {
    case 'expired':
      throw new CannotStart(`This code is no longer valid: it was rejected, or nobody answered in time. Get a new one with:\n  ${again}`, 1)
    case 'unreadable':
      throw new CannotStart(`The answer cannot be decrypted: it was meant for another computer. Get a new code with:\n  ${again}`, 1)
    case 'paired': {
      const credentials = { server, ...end.linked, keys: asBefore(home.credentials(server)?.keys, end.linked.keys) }
      home.saveCredentials(credentials)
      home.rememberServer(server)
      tell(terminal, `${style.good('This computer is linked')} to your account on ${server}\n`)
      // So that the app shows this computer at once; each session does it again.
      await registerMachine(createRest({ server, token: credentials.token, fetch }), home, credentials.keys).catch(() => {})
      return credentials
    }
  }
}

/**
 * When linked to the same account again, the computer keeps its key: a running daemon has it, and data on
 * the server is encrypted with it.
 */
function asBefore(before: TerminalKeys | undefined, now: TerminalKeys): TerminalKeys {
  if (before?.version !== 2 || now.version !== 2) return now
  return equalBytes(before.contentPublicKey, now.contentPublicKey) ? { ...now, machineKey: before.machineKey } : now
}

async function pair(server: string, style: Style, options: LoginOptions): Promise<LoginEnd> {
  const { terminal } = options
  const here = await anyServerHere(options.env)
  let progress: Progress = { type: 'asking' }
  let checkCode: string | undefined
  const openLine = () =>
    openBlock(terminal, columns => (progress.type === 'over' ? [] : progressLines(progress, checkCode, style, columns)))
  let line = openLine()
  const show = (now: Progress) => {
    progress = now
    line.redraw()
  }
  try {
    const request = await ask(server, here, options, show)
    const waiting = progress
    show({ type: 'over' })
    line.close()
    const { link, happyLink } = request
    const forPhones = here?.startsWith('https:') ? here : undefined
    terminal.write(linkScreen({ server, link, forPhones, happyLink, forHappy: options.forHappy, style, terminal }))
    progress = waiting
    checkCode = request.checkCode
    line = openLine()
    return await request.wait()
  } catch (error) {
    throw error instanceof Refused ? new CannotStart(`${server} refused: ${plain(error.message)}`) : error
  } finally {
    progress = { type: 'over' }
    line.close()
  }
}

/**
 * With a check code if server and phone support it, otherwise legacy pairing. Waits for an unreachable server, but not for long if it
 * never answered: then its address is probably wrong.
 */
async function ask(
  server: string,
  here: string | undefined,
  { forHappy, home, clock = systemClock }: LoginOptions,
  show: (now: Progress) => void
): Promise<Request> {
  const { fetch, signal, heardTrouble, hintOn, answered } = untilHopeless(server, here, home, clock)
  const onWait = (error: Refused | Unreachable) => {
    const trouble = whyUnreachable(error, server)
    show({ type: 'trouble', trouble: [trouble, ...hintOn(error)].join(' ') })
    heardTrouble(trouble)
  }
  const onTrouble = (_: string | undefined, error?: Refused | Unreachable) => {
    if (error) onWait(error)
    else show({ type: 'waiting' })
  }
  const asker = { server, fetch, deviceName: hostname(), about: aboutComputer(), onTrouble, clock }
  if (forHappy) return askInFirstWay(asker, show, signal).finally(answered)
  const retrier = createRetrier({ signal, clock, onWait })
  const linking = await retrier.attempt(() => startLinking('terminal', asker))
  answered()
  if (linking === 'unsupported') return askInFirstWay(asker, show, signal)
  show({ type: 'waiting' })
  return {
    link: linking.link,
    checkCode: linking.checkCode,
    async wait() {
      const end = await linking.wait()
      return end.type === 'paired' ? { type: 'paired', linked: { ...end.signedIn, keys: terminalKeys(end.answer) } } : end
    }
  }
}

const patienceMs = 15_000
// Its name is announced before every name server knows it.
const patienceWithTunnelMs = 120_000

/**
 * `signal` aborts with what to do if waiting does not help: the server's certificate is not trusted, or a server never reached before
 * has no such name, or has not answered for a while. One that worked before may be missing only because the network is.
 */
function untilHopeless(server: string, here: string | undefined, home: Home, clock: Clock) {
  const ending = new AbortController()
  const other = here === server ? undefined : here
  const { hostname, port } = new URL(server)
  const mayBeNew = here === server || hostname.endsWith('.trycloudflare.com')
  let isKnown = home.server === server || home.credentials(server) !== undefined
  let troubledSince: number | undefined
  const ownFetch: Fetch = async (url, init) => {
    try {
      return await fetch(url, init)
    } catch (error) {
      const code = codeOf(error)
      const trouble = certificateTrouble(code, server)
      if (trouble) ending.abort(new CannotStart(`${trouble.says}\n${trouble.advice}`))
      else if (!isKnown && !mayBeNew && code === 'ENOTFOUND') ending.abort(noSuchServer(server, other))
      throw error
    }
  }
  return {
    signal: ending.signal,
    fetch: ownFetch,
    answered() {
      isKnown = true
    },
    heardTrouble(trouble: string) {
      troubledSince ??= clock.now()
      if (!isKnown && clock.now() - troubledSince >= (mayBeNew ? patienceWithTunnelMs : patienceMs)) ending.abort(noAnswer(trouble, other))
    },
    /** What a person can do meanwhile. */
    hintOn(error: unknown): string[] {
      const code = codeOf(error)
      return [
        ...(mayBeNew && code === 'ENOTFOUND' ? ['The name of a new tunnel may take a minute to be known.'] : []),
        ...(!isKnown && port !== '' && code === 'ECONNREFUSED' ? ['The port may be wrong.'] : []),
        ...(other === undefined ? [] : [`The server of this computer is at ${other}.`])
      ]
    }
  }
}

function noSuchServer(server: string, other: string | undefined): CannotStart {
  const { hostname } = new URL(server)
  return new CannotStart(
    `There is no computer called ${hostname}. ${otherAddress(other)}\nIf the name is right, check the network of this computer.`
  )
}

function noAnswer(trouble: string, other: string | undefined): CannotStart {
  return new CannotStart(`${plain(trouble)} ${otherAddress(other)}\nIf the address is right, start the server first.`)
}

function otherAddress(other: string | undefined): string {
  if (other !== undefined) return `A server runs on this computer; to use it:\n  ${typed(`login --server ${other}`)}`
  return `Use the address at which you open Afield in the browser:\n  ${typed('login --server <address>')}`
}

/** A code is useful once the server has the request; if something else answers there, none is shown. */
async function askInFirstWay(asker: PairingOptions, show: (now: Progress) => void, signal: AbortSignal): Promise<Request> {
  const heard = Promise.withResolvers<void>()
  const pairing = startPairing({
    ...asker,
    fetch: async (url, init) => {
      const response = await asker.fetch(url, init)
      if (response.status === 200 && response.headers.get('content-type')?.includes('json')) heard.resolve()
      return response
    }
  })
  const ended = pairing.wait(signal)
  await Promise.race([heard.promise, ended])
  show({ type: 'waiting' })
  return {
    link: pairing.link,
    happyLink: pairing.happyLink,
    async wait() {
      const end = await ended
      return end.type === 'paired' ? { type: 'paired', linked: { token: end.token, keys: end.keys } } : end
    }
  }
}

type Progress = { type: 'asking' | 'waiting' | 'over' } | { type: 'trouble'; trouble: string }

function progressLines(progress: Progress, checkCode: string | undefined, style: Style, columns: number): string[] {
  const label = checkCode === undefined ? '' : `Check code ${checkCode}  `
  const look = progress.type === 'trouble' ? style.needs : style.dim
  const [first = '', ...rest] = wrapped(progressWords(progress, checkCode), columns - 3 - label.length)
  return [`  ${style.bold(label)}${look(first)}`, ...rest.map(line => `  ${' '.repeat(label.length)}${look(line)}`)]
}

function progressWords(progress: Progress, checkCode: string | undefined): string {
  if (progress.type === 'trouble') return `${plain(progress.trouble)} Trying again. Ctrl-C ends this.`
  if (progress.type === 'asking') return 'Asking the server …'
  if (checkCode === undefined) return 'Waiting for your approval. The code is valid for five minutes.'
  return 'The app asks for it. Waiting up to five minutes.'
}

function nextCommands(): string {
  const next = [
    ['claude', 'Claude Code'],
    ['run -- <command>', 'any other agent that speaks ACP'],
    ['demo', 'a scripted agent, to try everything']
  ] as const
  const width = Math.max(...next.map(([command]) => typed(command).length))
  const lines = next.map(([command, what]) => `  ${typed(command).padEnd(width)}  ${what}`)
  return `${lines.join('\n')}\n`
}

/**
 * This computer's description for the phone that is to let it in: its system, and the user that its
 * programs run as.
 */
function aboutComputer(): AskerAbout {
  const isRoot = process.getuid?.() === 0
  return { os: systemName().slice(0, 60), ...userName(), ...(isRoot && { isRoot }) }
}

/** As people call it: "Debian GNU/Linux 12 (bookworm)", "macOS", "Windows 11 Pro". */
function systemName(): string {
  switch (platform()) {
    case 'linux':
      return distribution() ?? 'Linux'
    case 'darwin':
      return 'macOS'
    case 'win32':
      return version()
    default:
      return platform()
  }
}

function distribution(): string | undefined {
  try {
    return /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

// A user without an entry has a number and no name.
function userName(): { user?: string } {
  try {
    return { user: userInfo().username.slice(0, 60) }
  } catch {
    return {}
  }
}
