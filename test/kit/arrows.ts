import { builtinModules } from 'node:module'
import { posix } from 'node:path'

/** One import as a source file writes it. */
export interface Import {
  from: string
  specifier: string
  isDynamic: boolean
}

/** A part of the house: its files, the parts it may import besides its own files, and the packages. */
interface Room {
  files: readonly string[]
  rooms: readonly string[]
  packages: readonly string[]
}

const common = ['exit', 'options', 'assets', 'node-version', 'async', 'local-socket']

// A room may import what its rooms may import: the arrows are transitive.
const rooms: Record<string, Room> = {
  web: {
    files: ['web/'],
    rooms: ['client'],
    packages: ['preact', '@preact/signals', 'idb', 'uqr', 'client-zip', 'marked', 'diff', 'qr', 'age-encryption']
  },
  wrapper: {
    files: ['lib/wrapper/'],
    rooms: ['client', ...common],
    // What an agent changed comes from some as a unified diff.
    packages: ['node:', 'undici', 'uqr', 'zod', 'zigpty', 'diff', '@agentclientprotocol/sdk']
  },
  client: { files: ['lib/client/'], rooms: ['protocol/sealed', 'crypto', 'async'], packages: ['socket.io-client', 'zod'] },

  'protocol/sealed': { files: ['lib/protocol/sealed/'], rooms: ['protocol/wire'], packages: ['zod'] },
  'protocol/wire': { files: ['lib/protocol/wire/'], rooms: [], packages: ['zod'] },
  crypto: { files: ['lib/crypto/'], rooms: [], packages: ['@noble/ciphers', '@noble/curves', '@noble/hashes'] },
  // The engine outside of browsers, under whose name that of browsers stands there.
  engine: { files: ['lib/crypto/engine-sodium.ts'], rooms: ['crypto'], packages: ['node:', 'libsodium-wrappers', '@noble/hashes'] },
  async: { files: ['lib/async/'], rooms: [], packages: [] },

  create: { files: ['lib/server/create.ts'], rooms: ['edge', 'control', 'push', 'store/open', 'bus/open'], packages: ['node:'] },
  edge: { files: ['lib/server/edge/'], rooms: ['actions', 'hub', ...common], packages: ['node:', 'uWebSockets.js', 'zod'] },
  // Commands of the owner come another way than requests: past the edge, to the same actions.
  control: { files: ['lib/server/control/'], rooms: ['actions', 'store/open'], packages: ['node:', 'zod'] },
  backup: {
    files: ['lib/backup/'],
    rooms: ['control', 'store/open', ...common],
    packages: ['node:', 'zod', 'libsodium-wrappers', '@noble/hashes']
  },
  actions: { files: ['lib/server/actions/'], rooms: ['server'], packages: ['node:'] },
  hub: {
    files: ['lib/server/hub.ts', 'lib/server/callees.ts', 'lib/server/connection.ts', 'lib/server/frames.ts'],
    rooms: ['server'],
    packages: ['node:']
  },
  push: { files: ['lib/server/push/'], rooms: ['server'], packages: ['node:', 'undici', 'zod', 'web-push'] },
  server: { files: ['lib/server/'], rooms: ['store', 'bus', 'protocol/wire', ...common], packages: ['node:', 'pino', 'prom-client'] },

  'store/open': { files: ['lib/store/open.ts'], rooms: ['sqlite', 'postgres'], packages: ['node:'] },
  store: { files: ['lib/store/'], rooms: ['protocol/wire', ...common], packages: ['node:'] },
  sqlite: { files: ['sqlite/'], rooms: ['store'], packages: ['node:', 'better-sqlite3'] },
  postgres: { files: ['postgres/'], rooms: ['store'], packages: ['node:', 'pg'] },
  'bus/open': { files: ['lib/bus/open.ts'], rooms: ['bus', 'redis', ...common], packages: [] },
  bus: { files: ['lib/bus/'], rooms: ['protocol/wire', 'async', 'store'], packages: ['node:'] },
  redis: { files: ['redis/'], rooms: ['bus', ...common], packages: ['node:', 'ioredis'] },

  exit: { files: ['lib/exit.ts'], rooms: [], packages: [] },
  'local-socket': { files: ['lib/local-socket/'], rooms: ['exit'], packages: ['node:', 'zod'] },
  options: { files: ['lib/options.ts', 'lib/option-refusal.ts'], rooms: ['exit'], packages: ['node:', 'zod'] },
  assets: { files: ['lib/assets.ts'], rooms: [], packages: ['node:'] },
  'node-version': { files: ['lib/node-version.ts'], rooms: ['exit'], packages: ['node:'] },

  index: { files: ['lib/index.ts'], rooms: ['create', 'client'], packages: [] },
  // What runs an agent loads neither uWebSockets nor SQLite; only these two commands know the server.
  doctor: { files: ['lib/doctor/'], rooms: ['control', 'store/open', ...common], packages: ['node:'] },
  'bin/keep': {
    files: ['bin/commands/backup.ts', 'bin/commands/restore.ts', 'bin/passphrase.ts'],
    rooms: ['bin', 'backup'],
    packages: ['node:', 'yargs']
  },
  'bin/serve': {
    files: ['bin/commands/serve.ts', 'bin/commands/doctor.ts', 'bin/commands/users.ts', 'bin/commands/token.ts', 'bin/commands/invite.ts'],
    rooms: ['bin', 'create', 'doctor'],
    packages: ['yargs']
  },
  bin: { files: ['bin/'], rooms: ['wrapper', ...common], packages: ['node:', 'yargs', 'undici'] }
}

const exceptions = [
  // Who signs in is the one thing the server checks with the clients' own keys; create waits until that can be done.
  { from: 'lib/server/create.ts', to: 'lib/crypto/sign.ts' },
  { from: 'lib/server/actions/signatures.ts', to: 'lib/crypto/sign.ts' },
  // Commands are loaded when they run, so the list of all of them loads nothing.
  { from: 'bin/commands.ts', to: 'bin/commands/serve.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/backup.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/restore.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/users.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/token.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/invite.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/doctor.ts', isDynamic: true }
]

const drivers = ['sqlite', 'postgres', 'redis']

/** Why an import goes against the arrows of the design, in a sentence, or undefined when it may stand. */
export function refusalOf({ from, specifier, isDynamic }: Import): string | undefined {
  const room = roomOf(from)
  if (room === undefined) return `${from} belongs to no room of test/kit/arrows.ts`
  if (specifier.startsWith('#crypto-')) return room === 'crypto' ? undefined : `${from} imports the crypto engine past lib/crypto`
  if (!specifier.startsWith('.')) {
    const name = packageOf(specifier)
    return rooms[room]?.packages.includes(name) ? undefined : `${from} imports ${specifier}, and ${room} may not import ${name}`
  }
  const to = posix.join(posix.dirname(from), specifier)
  const target = roomOf(to)
  if (exceptions.some(e => e.from === from && e.to === to && (!e.isDynamic || isDynamic))) return undefined
  if (target === undefined || !reach(room).has(target)) return `${from} imports ${to}, and no arrow goes from ${room} to ${target}`
  if (drivers.includes(target) && target !== room && !isDynamic)
    return `${from} imports the driver ${to} although it may not be the one in use`
  return undefined
}

/** Every import in the text of a source file. */
export function importsOf(from: string, text: string): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?:[\w$\s{},*]*?\sfrom\s+)?'([^']+)'/gm)
  const calls = text.matchAll(/\b(?:import|require(?:\.resolve)?)\(\s*['"`]([^'"`]+)['"`]/g)
  return [
    ...[...statements].map(match => ({ from, specifier: match[1] ?? '', isDynamic: false })),
    ...[...calls].map(match => ({ from, specifier: match[1] ?? '', isDynamic: true }))
  ]
}

function roomOf(path: string): string | undefined {
  const held = Object.entries(rooms).flatMap(([room, { files }]) =>
    files.filter(file => (file.endsWith('/') ? path.startsWith(file) : path === file)).map(file => ({ room, file }))
  )
  return held.toSorted((a, b) => b.file.length - a.file.length)[0]?.room
}

function reach(room: string, seen = new Set<string>()): Set<string> {
  if (seen.has(room)) return seen
  seen.add(room)
  for (const next of rooms[room]?.rooms ?? []) reach(next, seen)
  return seen
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return 'node:'
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
