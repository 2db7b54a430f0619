import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Fetch, TokenSource } from '../../client/link/rest.ts'
import type { TerminalKeys } from '../../client/sealed/vault.ts'
import type { Renewal } from '../../client/sign-in/renewal.ts'
import { keepToken, type SignedIn } from '../../client/sign-in/token-keeper.ts'
import { fromBase64, toBase64 } from '../../crypto/bytes.ts'
import { CannotStart } from '../../exit.ts'
import * as v from '../../schema.ts'
import { homePath, leanNames, typed } from './own-process.ts'
import { makePrivateFolder, readPrivateFile, withFileLock, writePrivateFile } from './private-files.ts'

/** What this computer may do on one server, from pairing. For the current token see `deviceToken`. */
export interface Credentials extends SignedIn {
  server: string
  keys: TerminalKeys
}

/** The folder in which the wrapper stores its keys, its settings and pending messages. */
export interface Home {
  readonly path: string
  /** Created once, the same for every server. */
  readonly machineId: string
  /** The server of the last `afield login`. */
  readonly server: string | undefined
  rememberServer(server: string): void
  credentials(server: string): Credentials | undefined
  saveCredentials(credentials: Credentials): void
  /** Stores a renewed token, unless this computer was unlinked, or linked again, meanwhile. */
  noteRenewal(server: string, signedIn: SignedIn): void
  /** False when there were none. */
  forgetCredentials(server: string): boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** This computer's credentials for the server. Throws CannotStart if it was not linked to an account there. */
export function needCredentials(home: Home, server: string): Credentials {
  const credentials = home.credentials(server)
  if (credentials) return credentials
  throw new CannotStart(`This computer is not linked to an account on ${server} yet. Run:\n  ${typed(`login --server ${server}`)}`)
}

/** `AFIELD_HOME`, else `~/.afield`; created if missing. Throws CannotStart if it cannot be used. */
export function openHome(env: Environment): Home {
  const path = homePath(env)
  const settingsFile = join(path, 'settings.json')
  const credentialsFile = join(path, 'credentials.json')
  // Node.js would retry forever.
  if (/^\/proc(\/|$)/.test(path)) throw new CannotStart(`Afield cannot use its folder ${path}: the system does not allow creating it.`)
  try {
    makePrivateFolder(path)
  } catch (error) {
    const why = isReadOnly(path) ? 'it is on a disk that is mounted read-only.' : error instanceof Error ? error.message : String(error)
    throw new CannotStart(`Afield cannot use its folder ${path}: ${why}`)
  }
  let settings = readJson(settingsFile, settingsShape, { machineId: '' })
  // Of several simultaneous first ones, one names the computer.
  if (settings.machineId === '') {
    change(settingsFile, () => {
      settings = readJson(settingsFile, settingsShape, { machineId: randomUUID() })
      return settings
    })
  }

  const readAll = () => readJson(credentialsFile, credentialsShape, {})
  return {
    path,
    machineId: settings.machineId,
    get server() {
      return settings.server
    },
    rememberServer(server) {
      change(settingsFile, () => {
        settings = { ...readJson(settingsFile, settingsShape, settings), server }
        return settings
      })
    },
    credentials(server) {
      const kept = readAll()[server]
      return kept && { server, token: kept.token, ...(kept.renewal ? { renewal: kept.renewal } : {}), keys: keysOf(kept) }
    },
    saveCredentials({ server, token, renewal, keys }) {
      change(credentialsFile, () => ({ ...readAll(), [server]: { token, renewal, ...writtenKeys(keys) } }))
    },
    noteRenewal(server, { token, renewal }) {
      change(credentialsFile, () => {
        const all = readAll()
        const kept = all[server]
        return kept && kept.renewal?.deviceSeed === renewal?.deviceSeed ? { ...all, [server]: { ...kept, token, renewal } } : undefined
      })
    },
    forgetCredentials(server) {
      return change(credentialsFile, () => {
        const { [server]: known, ...others } = readAll()
        return known && others
      })
    }
  }
}

/**
 * From `--server`, then `AFIELD_SERVER`, then the settings. Throws CannotStart if there is none or it is
 * not a URL.
 */
export function chooseServer(flag: string | undefined, env: Environment, home: Pick<Home, 'server'>): string {
  const given = flag || env['AFIELD_SERVER'] || home.server
  // Which finds the server of this computer, or asks.
  if (!given) throw new CannotStart(`No server is known yet. Link this computer to your account with:\n  ${typed('login')}`)
  return serverAddress(given)
}

/** The environment for agents: the person's, without Afield's own variables [W6]. */
export function agentEnvironment(env: Environment): Record<string, string> {
  const lean = leanNames(env)
  const entries = Object.entries(env).filter(([name]) => !name.startsWith('AFIELD_') && !lean.has(name))
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** Asked of the nearest folder that exists: for what cannot be created there, Node.js reports that it is missing. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EROFS' || (code === 'ENOENT' && dirname(path) !== path && isReadOnly(dirname(path)))
  }
}

function serverAddress(text: string): string {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.pathname !== '/' || url.search || url.hash) {
    throw new CannotStart(`${text} is not a server address, such as https://home.example or http://192.168.1.5:3005`)
  }
  return url.origin
}

const settingsShape = v.looseObject({ machineId: v.pipe(v.string(), v.minLength(1)), server: v.optional(v.string()) })
const key = v.pipe(
  v.string(),
  v.check(text => fromBase64(text)?.length === 32, 'is not 32 bytes in base64')
)
const renewal: v.GenericSchema<unknown, Renewal> = v.object({
  deviceSeed: key,
  account: v.string(),
  serverKeyId: v.string(),
  expiresAt: v.number()
})
const signedIn = { token: v.string(), renewal: v.optional(renewal) }
const keptCredentials = v.variant('version', [
  v.object({ version: v.literal(2), ...signedIn, contentPublicKey: key, machineKey: key }),
  v.object({ version: v.literal(1), ...signedIn, secret: key })
])
const credentialsShape = v.record(v.string(), keptCredentials)

function keysOf(kept: v.InferOutput<typeof keptCredentials>): TerminalKeys {
  if (kept.version === 1) return { version: 1, secret: readKey(kept.secret) }
  return { version: 2, contentPublicKey: readKey(kept.contentPublicKey), machineKey: readKey(kept.machineKey) }
}

function readKey(text: string) {
  const bytes = fromBase64(text)
  if (!bytes) throw new TypeError('a key that was read before cannot be read')
  return bytes
}

function writtenKeys(keys: TerminalKeys) {
  if (keys.version === 1) return { version: 1 as const, secret: toBase64(keys.secret) }
  return { version: 2 as const, contentPublicKey: toBase64(keys.contentPublicKey), machineKey: toBase64(keys.machineKey) }
}

function readJson<Shape extends v.GenericSchema>(file: string, shape: Shape, absent: v.InferOutput<Shape>): v.InferOutput<Shape> {
  const text = readPrivateFile(file)
  if (text === undefined) return absent
  try {
    return v.parse(shape, JSON.parse(text))
  } catch {
    // Not the text itself: it contains keys.
    throw new CannotStart(`${file} cannot be read. Move it away and run: ${typed('login')}`)
  }
}

/** Reads and writes atomically across processes. False if `next` returns undefined: the file is not changed. */
function change(file: string, next: () => object | undefined): boolean {
  return withFileLock(`${file}.lock`, () => {
    const value = next()
    if (value !== undefined) writePrivateFile(file, `${JSON.stringify(value, undefined, 2)}\n`)
    return value !== undefined
  })
}

/**
 * This computer's token, valid as long as it is linked: renewed with the device key, and shared with the
 * other processes of the same folder. One that cannot be renewed never changes.
 */
export function deviceToken(options: {
  home: Pick<Home, 'credentials' | 'noteRenewal'>
  credentials: Credentials
  fetch: Fetch
}): string | TokenSource {
  const { home, fetch } = options
  const { server, token, renewal } = options.credentials
  if (!renewal) return token
  return keepToken({
    server,
    fetch,
    kept: { token, renewal },
    // After a new login the folder may hold the token of another account, for which nothing here is
    // encrypted.
    latest: async () => {
      const kept = quietly(() => home.credentials(server))
      return kept?.renewal?.deviceSeed === renewal.deviceSeed ? kept : undefined
    },
    onRenewed: signedIn => quietly(() => home.noteRenewal(server, signedIn))
  })
}

// A full disk costs another renewal later, not the link: renewal only needs the key, which is already
// stored.
function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
