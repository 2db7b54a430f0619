import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { CannotStart } from './exit.ts'
import { acmeDirectory, fileMode, optionRefusal, outlineOf, pushAddress, pushContact, serverAddress, webOrigin } from './option-refusal.ts'
import * as v from './schema.ts'

/** Every option of the server, with defaults and validated. */
export type ServerOptions = v.InferOutput<typeof table>

/** The options as an embedder passes them: omitted ones get their default. */
export type GivenOptions = v.InferInput<typeof table>

/** One option as shown in `--help` and the manual. */
interface OptionRow extends Omit<Manual, 'defaultInWords'> {
  name: string
  kind: 'string' | 'number' | 'boolean'
  choices?: readonly string[]
  /** The default as text, or what it depends on in words; undefined if there is none. */
  shownDefault?: string
  /** The same on this machine. */
  defaultHere?: string
}

interface Manual {
  env: `AFIELD_${string}`
  flag: string
  about: string
  /** Shown in the manual for a default that differs from machine to machine. */
  defaultInWords?: string
  /** Never shown, of an address its password; the variable with `_FILE` at its end names a file that has it. */
  isSecret?: true | 'password'
  /** A place on disk: in a configuration file it is relative to the file's folder. */
  isPath?: true
}

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

const manual = new Map<v.GenericSchema, Manual>()

const options = {
  host: option(v.optional(v.pipe(v.string(), v.minLength(1), v.transform(withoutBrackets))), {
    env: 'AFIELD_HOST',
    flag: 'host',
    about: 'Address to listen on. Any but a loopback address needs HTTPS, see --https, --public-url and --insecure-http.',
    defaultInWords: '127.0.0.1; with --https auto 0.0.0.0'
  }),
  port: option(v.optional(v.pipe(v.int(), v.minValue(0), v.maxValue(65_535)), 3005), {
    env: 'AFIELD_PORT',
    flag: 'port',
    about: 'Port to listen on; 0 picks a free one.'
  }),
  socket: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_SOCKET',
    isPath: true,
    flag: 'socket',
    about: 'Unix socket to listen on instead of an address and a port, for a reverse proxy on this computer, which is then trusted.'
  }),
  socketMode: option(v.optional(fileMode, '660'), {
    env: 'AFIELD_SOCKET_MODE',
    flag: 'socket-mode',
    about: 'Who may connect to the socket, as chmod takes it: by default its user and its group.'
  }),
  data: option(v.optional(v.pipe(v.string(), v.minLength(1)), dataDirectory), {
    env: 'AFIELD_DATA',
    isPath: true,
    flag: 'data',
    about: 'Directory for everything the server stores. Only one server can use it at a time.',
    defaultInWords: "afield in the platform's data directory"
  }),
  publicUrl: option(v.optional(serverAddress), {
    env: 'AFIELD_PUBLIC_URL',
    flag: 'public-url',
    about: 'Address at which phones reach this server, if not the one it listens on.'
  }),
  signup: option(v.optional(v.picklist(['owner', 'approve', 'invite', 'open', 'closed']), 'owner'), {
    env: 'AFIELD_SIGNUP',
    flag: 'signup',
    about: 'Who may create an account besides the owner: no one, anyone the owner approves, anyone with an invitation, or everyone.'
  }),
  store: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_STORE',
    flag: 'store',
    isSecret: 'password',
    about: 'Where accounts, sessions and messages are kept: sqlite:<file>, or postgres://<user>@<host>/<database>.',
    defaultInWords: 'sqlite:afield.db in the data directory'
  }),
  bus: option(v.optional(v.pipe(v.string(), v.minLength(1)), 'local'), {
    env: 'AFIELD_BUS',
    flag: 'bus',
    isSecret: 'password',
    about:
      'How the instances of one server exchange updates: local means there is only this one; postgres uses the database of --store; redis://[user:password@]host[:port][/database], or rediss:// with TLS, is a Redis that all of them use.'
  }),
  https: option(v.optional(v.picklist(['off', 'auto']), 'off'), {
    env: 'AFIELD_HTTPS',
    flag: 'https',
    about:
      'auto looks for a way to a certificate on this computer, says what it found, and renews it in time: own files, the authority at --https-directory for the name in --public-url, or Tailscale.'
  }),
  tunnel: option(v.optional(v.picklist(['cloudflared', 'tailscale'])), {
    env: 'AFIELD_TUNNEL',
    flag: 'tunnel',
    about:
      'Start this installed program, which gives the server a public HTTPS address, and end it with the server: a quick tunnel of cloudflared, whose address changes with every start, or the funnel of tailscale.'
  }),
  httpsDirectory: option(v.optional(acmeDirectory, 'https://acme-v02.api.letsencrypt.org/directory'), {
    env: 'AFIELD_HTTPS_DIRECTORY',
    flag: 'https-directory',
    about: 'ACME directory of the authority that issues the certificate for --https auto.'
  }),
  httpsChallengePort: option(v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(65_535)), 80), {
    env: 'AFIELD_HTTPS_CHALLENGE_PORT',
    flag: 'https-challenge-port',
    about: 'Port on which the authority checks the name (HTTP-01) while a certificate is ordered. It must be port 80 from outside.'
  }),
  httpsDnsHook: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_HTTPS_DNS_HOOK',
    isPath: true,
    flag: 'https-dns-hook',
    about:
      'Program that adds and removes the DNS record by which the authority checks the name (DNS-01), instead of a port: called as <program> add|remove <record> <value>.'
  }),
  tlsCert: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_TLS_CERT',
    isPath: true,
    flag: 'tls-cert',
    about: 'File with the certificate chain (PEM). With --tls-key the server speaks HTTPS.'
  }),
  tlsKey: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_TLS_KEY',
    isPath: true,
    flag: 'tls-key',
    about: "File with the certificate's private key (PEM)."
  }),
  insecureHttp: option(v.optional(v.boolean(), false), {
    env: 'AFIELD_INSECURE_HTTP',
    flag: 'insecure-http',
    about: 'Allow plain HTTP on any address. Messages stay encrypted, but sign-in tokens can be read in transit.'
  }),
  legacyPairing: option(v.optional(v.picklist(['on', 'no-keys', 'off']), 'on'), {
    env: 'AFIELD_LEGACY_PAIRING',
    flag: 'legacy-pairing',
    about:
      "Whether Happy's programs may pair, which they do without a check code: no-keys rejects those that ask for the account key itself, off rejects all."
  }),
  limits: option(v.optional(v.picklist(['default', 'off']), 'default'), {
    env: 'AFIELD_LIMITS',
    flag: 'limits',
    about: 'Rate limits for callers and storage limits for accounts; off is for load tests.'
  }),
  trustProxy: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_TRUST_PROXY',
    flag: 'trust-proxy',
    about: 'Proxies trusted to report where a request came from: loopback, addresses and blocks such as 10.0.0.0/8, separated by commas.'
  }),
  corsOrigin: option(v.optional(webOrigin, '*'), {
    env: 'AFIELD_CORS_ORIGIN',
    flag: 'cors-origin',
    about:
      'Web origin whose pages may call this server, besides its own app; other origins are then rejected, also for WebSockets. With * every origin may, but connections from another site get few places before sign-in.'
  }),
  keepSessionsDays: option(v.optional(v.pipe(v.int(), v.gtValue(0))), {
    env: 'AFIELD_KEEP_SESSIONS_DAYS',
    flag: 'keep-sessions-days',
    about: 'Remove ended sessions that were not used for this many days; by default every session is kept.'
  }),
  backupEvery: option(v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(500))), {
    env: 'AFIELD_BACKUP_EVERY',
    flag: 'backup-every',
    about: 'Hours between scheduled backups; each is verified by restoring it beside the data. By default none are scheduled.'
  }),
  backupKeep: option(v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(10_000)), 7), {
    env: 'AFIELD_BACKUP_KEEP',
    flag: 'backup-keep',
    about: 'How many scheduled backups are kept.'
  }),
  backupTo: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_BACKUP_TO',
    isPath: true,
    flag: 'backup-to',
    about: 'Directory for scheduled backups, ideally on another disk.',
    defaultInWords: 'backups in the data directory'
  }),
  idleAfterMs: option(v.optional(v.pipe(v.int(), v.gtValue(0)), 30_000), {
    env: 'AFIELD_IDLE_AFTER_MS',
    flag: 'idle-after-ms',
    about: 'How long a disconnected session may take to reconnect before it counts as inactive.'
  }),
  logLevel: option(v.optional(v.picklist(logLevels), 'info'), {
    env: 'AFIELD_LOG_LEVEL',
    flag: 'log-level',
    about: 'How much is logged to standard error; debug logs every request.'
  }),
  securityLog: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_SECURITY_LOG',
    isPath: true,
    flag: 'security-log',
    about: 'File for one line per rejected attempt, such as a failed sign-in, with the address of the client; by default there is none.'
  }),
  metricsToken: option(v.optional(v.pipe(v.string(), v.minLength(16))), {
    env: 'AFIELD_METRICS_TOKEN',
    isSecret: true,
    flag: 'metrics-token',
    about: 'Serve Prometheus metrics at /metrics to callers with this bearer token (16 or more characters); by default there are none.'
  }),
  expoUrl: option(v.optional(pushAddress, 'https://exp.host'), {
    env: 'AFIELD_EXPO_URL',
    flag: 'expo-url',
    about: "Where notifications for Happy's apps are sent; off sends none."
  }),
  expoToken: option(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))), {
    env: 'AFIELD_EXPO_TOKEN',
    isSecret: true,
    flag: 'expo-token',
    about: "Access token for Expo's push service, for projects that require one."
  }),
  pushContact: option(v.optional(pushContact), {
    env: 'AFIELD_PUSH_CONTACT',
    flag: 'push-contact',
    about: 'How browser push services can contact you: mailto:you@example.net or an https address.',
    defaultInWords: 'the public address of the server'
  }),
  pushAllow: option(v.optional(v.pipe(v.string(), v.minLength(1))), {
    env: 'AFIELD_PUSH_ALLOW',
    flag: 'push-allow',
    about:
      'Networks besides the internet to which notifications may be sent, such as that of an ntfy server at home: loopback, addresses and blocks such as 192.168.1.0/24, separated by commas.'
  }),
  pushTitles: option(v.optional(v.boolean(), false), {
    env: 'AFIELD_PUSH_TITLES',
    flag: 'push-titles',
    about: 'Let notifications carry the titles and texts that agents send; providers and phone makers can read them.'
  }),
  dev: option(v.optional(v.boolean(), false), {
    env: 'AFIELD_DEV',
    flag: 'dev',
    about: 'For app development: files are read again at every request, nothing is cached on devices, and no notifications are registered.'
  })
}

const table = v.pipe(
  v.strictObject(options),
  v.transform(given => ({
    ...given,
    host: given.host ?? (given.https === 'auto' ? '0.0.0.0' : '127.0.0.1'),
    ...(given.socket !== undefined && { socket: resolve(given.socket) }),
    store: given.store ?? 'sqlite:afield.db',
    backupTo: given.backupTo ?? join(given.data, 'backups')
  }))
)

/** Fills in the defaults. Throws CannotStart, in one sentence, for a value or combination that cannot work. */
export function completeOptions(given: GivenOptions): ServerOptions {
  return checked(given, name => name)
}

/** A configuration file as read: its values by the names of flags, and the name that messages call it by. */
export interface ConfigFile {
  name: string
  values: ReadonlyMap<string, unknown>
}

/** The options of a start, and where each comes from; those that nobody gave are missing there. */
export interface ReadOptions {
  options: ServerOptions
  sources: ReadonlyMap<string, string>
}

/** Options from the command line, then the environment, then a file, then the defaults. Throws as `completeOptions` does. */
export function readOptions(
  flags: Record<string, unknown>,
  env: Record<string, string | undefined>,
  file: ConfigFile = { name: '', values: new Map() }
): ReadOptions {
  const given: Record<string, unknown> = {}
  const sources = new Map<string, string>()
  const take = (name: string, value: unknown, source: string) => {
    given[name] = value
    sources.set(name, source)
  }
  for (const row of optionRows()) {
    const fromEnv = env[row.env]
    if (flags[row.flag] !== undefined) take(row.name, flags[row.flag], `--${row.flag}`)
    else if (fromEnv) take(row.name, fromText(row.kind, fromEnv), row.env)
    else if (file.values.has(row.flag)) take(row.name, file.values.get(row.flag), `${row.flag} in ${file.name}`)
  }
  return { options: checked(given, name => sources.get(name) ?? name), sources }
}

/** All options in the order of the manual. */
export function optionRows(): OptionRow[] {
  return Object.entries(options).map(([name, schema]) => {
    const row = manual.get(schema)
    if (!row) throw new Error(`The option ${name} is missing from the manual.`)
    const { defaultInWords, ...line } = row
    const { type, choices } = outlineOf(schema)
    const value = v.getDefault(schema)
    const defaultHere = value === undefined || value === false ? defaultInWords : String(value)
    const shownDefault = defaultInWords ?? defaultHere
    return {
      name,
      ...line,
      kind: type === 'boolean' || type === 'number' ? type : 'string',
      ...(choices && { choices }),
      ...(shownDefault !== undefined && { shownDefault }),
      ...(defaultHere !== undefined && { defaultHere })
    }
  })
}

/** The value as it may be shown. */
export function shownValue({ isSecret }: Pick<OptionRow, 'isSecret'>, value: unknown): unknown {
  if (isSecret === true && value !== undefined) return '(hidden)'
  return isSecret === 'password' && typeof value === 'string' ? value.replace(passwordInAddress, '$1(hidden)@') : value
}

const passwordInAddress = /^(\w+:\/\/)\S*@/

function option<S extends v.GenericSchema>(schema: S, row: Manual): S {
  manual.set(schema, row)
  return schema
}

function checked(given: unknown, sourceOf: (name: string) => string): ServerOptions {
  const result = v.safeParse(table, given)
  if (!result.success) {
    const name = String(result.problem.path[0])
    throw new CannotStart(optionRefusal(result.problem, Object.entries(options).find(([known]) => known === name)?.[1], sourceOf(name)))
  }
  refuseHalfCertificate(result.data)
  refuseOpenNetwork(result.data)
  refuseOpenAddress(result.data)
  refuseTwoWays(result.data)
  refuseLoneSocket(result.data)
  return result.data
}

function refuseHalfCertificate({ tlsCert, tlsKey }: ServerOptions): void {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return
  throw new CannotStart('--tls-cert and --tls-key must be given together.')
}

// Sign-in tokens are sent in requests: outside this computer they need HTTPS, or explicit consent.
function refuseOpenNetwork({ host, https, tlsCert, publicUrl, insecureHttp }: ServerOptions): void {
  if (isLoopback(host) || https === 'auto' || tlsCert !== undefined || publicUrl?.startsWith('https:') || insecureHttp) return
  throw new CannotStart(
    `Listening on ${host} needs HTTPS: give --https auto, or --tls-cert and --tls-key, or --public-url https://… when a reverse proxy provides it, or --insecure-http to allow plain HTTP.`
  )
}

function refuseLoneSocket({ socket, https, tlsCert, tunnel, publicUrl, insecureHttp }: ServerOptions): void {
  if (socket === undefined) return
  const other = https === 'auto' ? '--https auto' : tlsCert !== undefined ? '--tls-cert' : tunnel !== undefined ? '--tunnel' : undefined
  if (other !== undefined) throw new CannotStart(`--socket is for a reverse proxy that provides HTTPS; leave out ${other}.`)
  if (publicUrl === undefined && !insecureHttp)
    throw new CannotStart('--socket needs --public-url, the address of the reverse proxy in front of it.')
}

/** Each of these says how phones reach the server, and two would disagree. */
function refuseTwoWays({ tunnel, host, https, tlsCert, publicUrl }: ServerOptions): void {
  if (tunnel === undefined) return
  const other =
    https === 'auto' ? '--https auto' : tlsCert !== undefined ? '--tls-cert' : publicUrl !== undefined ? '--public-url' : undefined
  if (other !== undefined) throw new CannotStart(`--tunnel brings HTTPS and its own public address; leave out ${other}.`)
  if (!['127.0.0.1', 'localhost', '0.0.0.0'].includes(host))
    throw new CannotStart('--tunnel needs a server on --host 127.0.0.1, where the program looks for it.')
}

function refuseOpenAddress({ publicUrl, insecureHttp }: ServerOptions): void {
  if (publicUrl === undefined || publicUrl.startsWith('https:') || insecureHttp) return
  if (isLoopback(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''))) return
  throw new CannotStart(`Phones need HTTPS: give --public-url as https://…, or --insecure-http to allow plain HTTP at ${publicUrl}.`)
}

/** Whether an address or name is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** IPv6 as in a URL, `[::1]`. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

function fromText(kind: OptionRow['kind'], text: string): unknown {
  if (kind === 'number') return Number(text)
  if (kind === 'boolean') return /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : text
  return text
}

function dataDirectory(): string {
  const { env, platform } = process
  if (platform === 'win32') return resolve(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Afield')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Afield')
  return resolve(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'afield')
}
