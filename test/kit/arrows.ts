import { builtinModules } from 'node:module'
import { posix } from 'node:path'

/** One import of a source file. */
export interface Import {
  from: string
  specifier: string
  isDynamic: boolean
}

/** A part of the tree: its files, the parts it may import besides its own files, and the packages. */
interface Room {
  files: readonly string[]
  rooms: readonly string[]
  /** Exceptions: what it may not import although a part it may import may. */
  not?: readonly string[]
  packages: readonly string[]
}

// Input is handled by actions, which call the store.
const past = [
  'store',
  'store/open',
  'sqlite',
  'sqlite/access',
  'sqlite/rows',
  'sqlite/engine',
  'sqlite/file',
  'postgres',
  'postgres/access',
  'postgres/rows',
  'postgres/engine'
]

/** The packages for rendering. */
const drawing = ['preact', '@preact/signals']

const inSession = ['web/session/composer', 'web/session/decide', 'web/session/work']

const common = ['schema', 'exit', 'options', 'assets', 'program-in-path', 'help-pages', 'node-version', 'async', 'local-socket']

// A part may import everything its parts may import: the arrows are transitive.
export const rooms: Record<string, Room> = {
  // The app imports downwards only: features import the session below them, views import the model, and the model renders nothing.
  'web/app': { files: ['web/app/'], rooms: ['web/home'], packages: drawing },
  'web/home': { files: ['web/home/'], rooms: ['web/new', 'web/settings', 'web/join'], packages: drawing },
  'web/new': { files: ['web/new/'], rooms: ['web/machines', 'web/histories'], packages: drawing },
  'web/settings': { files: ['web/settings/'], rooms: ['web/machines', 'web/keys', 'web/notifications'], packages: drawing },
  'web/join': { files: ['web/join/'], rooms: ['web/machines', 'web/keys'], packages: [...drawing, 'qr'] },
  'web/machines': { files: ['web/machines/'], rooms: ['web/session'], packages: drawing },
  'web/histories': { files: ['web/histories/'], rooms: ['web/session'], packages: drawing },
  'web/keys': { files: ['web/keys/'], rooms: ['web/session/mode'], packages: [...drawing, 'age-encryption'] },
  'web/session': {
    files: ['web/session/'],
    rooms: ['web/session/menu', 'web/session/presence', 'web/session/log'],
    packages: drawing
  },
  'web/session/menu': { files: ['web/session/menu/'], rooms: ['web/session/machine', 'web/notifications'], packages: drawing },
  'web/session/presence': { files: ['web/session/presence/'], rooms: ['web/session/row', 'web/session/machine'], packages: drawing },
  'web/session/log': { files: ['web/session/log/'], rooms: ['web/session/composer'], packages: drawing },
  'web/notifications': { files: ['web/notifications/'], rooms: ['web/session/row'], packages: drawing },
  'web/session/row': { files: ['web/session/row/'], rooms: inSession, packages: drawing },
  'web/session/machine': { files: ['web/session/machine/'], rooms: ['web/session/text'], packages: drawing },
  'web/session/composer': { files: ['web/session/composer/'], rooms: ['web/session/transcript', 'web/session/mode'], packages: drawing },
  'web/session/decide': { files: ['web/session/decide/'], rooms: ['web/session/transcript', 'web/session/mode'], packages: drawing },
  'web/session/work': { files: ['web/session/work/'], rooms: ['web/session/transcript'], packages: drawing },
  'web/session/transcript': { files: ['web/session/transcript/'], rooms: ['web/session/text'], packages: drawing },
  'web/session/mode': { files: ['web/session/mode/'], rooms: ['web/model', 'web/ui'], packages: drawing },
  'web/session/text': { files: ['web/session/text/'], rooms: ['web/model', 'web/ui'], packages: [...drawing, 'marked', 'diff'] },
  'web/model': { files: ['web/model/'], rooms: ['web/core'], packages: ['@preact/signals', 'client-zip'] },
  'web/core': { files: ['web/core/'], rooms: ['client', 'web/ui'], packages: ['preact', '@preact/signals', 'idb'] },
  'web/ui': { files: ['web/ui/'], rooms: ['web/words'], packages: [...drawing, 'uqr'] },
  'web/words': { files: ['web/words/'], rooms: ['client'], packages: ['@preact/signals'] },
  // The wrapper also imports downwards only: code that starts a session imports it, and the session imports its uplink and its agent.
  'wrapper/run': { files: ['lib/wrapper/run/'], rooms: ['wrapper/account'], packages: ['node:'] },
  'wrapper/account': { files: ['lib/wrapper/account/'], rooms: ['wrapper/daemon'], packages: ['node:'] },
  'wrapper/daemon': { files: ['lib/wrapper/daemon/'], rooms: ['wrapper/session', 'service'], packages: ['node:', 'ws'] },
  'wrapper/session': {
    files: ['lib/wrapper/session/'],
    rooms: ['wrapper/histories', 'wrapper/approvals', 'wrapper/uplink'],
    packages: ['node:']
  },
  'wrapper/histories': { files: ['lib/wrapper/histories/'], rooms: ['wrapper/agents'], packages: ['node:'] },
  'wrapper/approvals': { files: ['lib/wrapper/approvals/'], rooms: ['wrapper/agents'], packages: ['node:'] },
  'wrapper/uplink': { files: ['lib/wrapper/uplink/'], rooms: ['wrapper/agents'], packages: ['node:', 'ws'] },
  'wrapper/agents': {
    files: ['lib/wrapper/agents/'],
    rooms: ['wrapper/terminal', 'wrapper/home'],
    // Some agents report changes as a unified diff.
    packages: ['node:', 'undici', 'zigpty', 'diff', '@agentclientprotocol/sdk']
  },
  'wrapper/terminal': { files: ['lib/wrapper/terminal/'], rooms: ['wrapper/home'], packages: ['node:', 'uqr'] },
  'wrapper/home': { files: ['lib/wrapper/home/'], rooms: ['client', ...common], packages: ['node:'] },
  client: {
    files: ['lib/client/'],
    rooms: ['client/sign-in', 'client/feed', 'client/outbox', 'client/calls', 'client/happy'],
    packages: []
  },
  'client/calls': { files: ['lib/client/calls/'], rooms: ['client/link', 'client/sealed'], packages: [] },
  // The only place that knows the older formats, modes and codes of Happy and of earlier wrappers of ours.
  'client/happy': { files: ['lib/client/happy/'], rooms: ['client/sealed'], packages: [] },
  'client/outbox': { files: ['lib/client/outbox/'], rooms: ['client/link', 'client/sealed'], packages: [] },
  'client/feed': { files: ['lib/client/feed/'], rooms: ['client/link'], packages: [] },
  'client/sign-in': { files: ['lib/client/sign-in/'], rooms: ['client/link', 'client/sealed'], packages: [] },
  'client/sealed': { files: ['lib/client/sealed/'], rooms: ['protocol/sealed', 'crypto', 'async'], packages: [] },
  'client/link': { files: ['lib/client/link/'], rooms: ['protocol/sealed', 'crypto', 'async'], packages: [] },

  // What `afield/protocol` gives; the parts of ours take what they need from its files.
  'protocol/index': { files: ['lib/protocol/index.ts'], rooms: ['protocol/sealed'], packages: [] },
  'protocol/sealed': { files: ['lib/protocol/sealed/'], rooms: ['protocol/wire'], packages: [] },
  'protocol/wire': { files: ['lib/protocol/wire/'], rooms: ['schema'], packages: [] },
  crypto: { files: ['lib/crypto/'], rooms: [], packages: ['@noble/ciphers', '@noble/curves', '@noble/hashes'] },
  // The engine outside browsers; the bundler replaces it by the browser's, under the same name.
  engine: { files: ['lib/crypto/engine-sodium.ts'], rooms: ['crypto'], packages: ['node:', 'libsodium-wrappers', '@noble/hashes'] },
  async: { files: ['lib/async/'], rooms: [], packages: [] },

  create: {
    files: ['lib/server/create.ts'],
    rooms: ['edge', 'https', 'tunnel', 'control', 'push', 'store/open', 'bus/open'],
    packages: ['node:']
  },
  edge: { files: ['lib/server/edge/'], rooms: ['edge/socket'], not: past, packages: ['uWebSockets.js'] },
  'edge/socket': {
    files: ['lib/server/edge/socket/'],
    rooms: ['edge/http', 'hub'],
    not: past,
    packages: ['node:', 'uWebSockets.js']
  },
  'edge/http': {
    files: ['lib/server/edge/http/'],
    rooms: ['edge/listen', 'actions'],
    not: past,
    packages: ['node:', 'uWebSockets.js']
  },
  'edge/listen': { files: ['lib/server/edge/listen/'], rooms: ['watch'], not: past, packages: ['node:', 'uWebSockets.js'] },
  tunnel: { files: ['lib/server/tunnel/'], rooms: ['watch'], not: past, packages: ['node:'] },
  https: { files: ['lib/server/https/'], rooms: ['watch'], not: past, packages: ['node:', 'acme-client'] },
  // Commands of the owner bypass the edge and call the same actions.
  control: { files: ['lib/server/control/'], rooms: ['actions', 'store/open'], not: ['store'], packages: ['node:'] },
  backup: {
    files: ['lib/backup/'],
    rooms: ['control', 'store/open', ...common],
    packages: ['node:', 'age-encryption', 'libsodium-wrappers', '@noble/hashes']
  },
  upgrade: { files: ['lib/upgrade/'], rooms: ['control', 'store/open', ...common], packages: ['node:', 'undici'] },
  transfer: { files: ['lib/transfer/'], rooms: ['control', 'store/open', ...common], packages: ['node:'] },
  // Actions may trigger background work.
  actions: { files: ['lib/server/actions/'], rooms: ['chores'], packages: ['node:'] },
  chores: { files: ['lib/server/chores/'], rooms: ['watch'], packages: ['node:'] },
  watch: { files: ['lib/server/watch/'], rooms: ['server'], packages: ['node:', 'pino', 'prom-client'] },
  hub: {
    files: ['lib/server/hub/'],
    rooms: ['server'],
    packages: ['node:']
  },
  push: { files: ['lib/server/push/'], rooms: ['server'], packages: ['node:', 'undici', 'web-push'] },
  server: { files: ['lib/server/'], rooms: ['store', 'bus', 'protocol/wire', ...common], packages: ['node:', 'ipaddr.js'] },

  'store/open': { files: ['lib/store/open.ts'], rooms: ['sqlite', 'postgres'], packages: ['node:'] },
  store: { files: ['lib/store/'], rooms: ['protocol/wire', ...common], packages: ['node:'] },
  sqlite: { files: ['sqlite/'], rooms: ['sqlite/access', 'sqlite/rows'], packages: ['node:', 'better-sqlite3'] },
  'sqlite/access': { files: ['sqlite/access/'], rooms: ['sqlite/engine'], packages: ['node:', 'better-sqlite3'] },
  'sqlite/rows': { files: ['sqlite/rows/'], rooms: ['sqlite/engine'], packages: ['node:', 'better-sqlite3'] },
  'sqlite/engine': { files: ['sqlite/engine/'], rooms: ['sqlite/file'], packages: ['node:', 'better-sqlite3'] },
  'sqlite/file': { files: ['sqlite/file/'], rooms: ['store'], packages: ['node:', 'better-sqlite3'] },
  postgres: { files: ['postgres/'], rooms: ['postgres/access', 'postgres/rows'], packages: [] },
  'postgres/bus': { files: ['postgres/bus/'], rooms: ['bus', ...common], packages: ['node:', 'pg'] },
  'postgres/access': { files: ['postgres/access/'], rooms: ['postgres/engine'], packages: ['node:'] },
  'postgres/rows': { files: ['postgres/rows/'], rooms: ['postgres/engine'], packages: ['node:'] },
  'postgres/engine': { files: ['postgres/engine/'], rooms: ['store'], packages: ['node:', 'pg'] },
  'bus/open': { files: ['lib/bus/open.ts'], rooms: ['bus', 'redis', 'postgres/bus', 'store/open', ...common], packages: [] },
  bus: { files: ['lib/bus/'], rooms: ['protocol/wire', 'async', 'store'], packages: ['node:'] },
  redis: { files: ['redis/'], rooms: ['bus', ...common], packages: ['node:', '@redis/client'] },

  schema: { files: ['lib/schema.ts'], rooms: [], packages: ['valibot'] },
  exit: { files: ['lib/exit.ts'], rooms: [], packages: [] },
  'local-socket': { files: ['lib/local-socket/'], rooms: ['schema', 'exit'], packages: ['node:'] },
  'help-pages': { files: ['lib/help-pages.ts'], rooms: ['assets'], packages: [] },
  'program-in-path': { files: ['lib/program-in-path.ts'], rooms: [], packages: ['node:'] },
  options: { files: ['lib/options.ts', 'lib/option-refusal.ts'], rooms: ['schema', 'exit'], packages: ['node:'] },
  assets: { files: ['lib/assets.ts'], rooms: [], packages: ['node:'] },
  'node-version': { files: ['lib/node-version.ts'], rooms: ['exit'], packages: ['node:'] },

  // How the system starts the server, or the daemon.
  service: { files: ['lib/service/'], rooms: ['exit'], packages: ['node:'] },

  index: { files: ['lib/index.ts'], rooms: ['create', 'client'], packages: [] },
  // Code that runs an agent loads neither uWebSockets nor SQLite; only these two commands import the server.
  doctor: { files: ['lib/doctor/'], rooms: ['control', 'store/open', 'service', ...common], packages: ['node:'] },
  'bin/keep': {
    files: [
      'bin/commands/backup.ts',
      'bin/commands/restore.ts',
      'bin/commands/migrate-store.ts',
      'bin/commands/import-happy.ts',
      'bin/passphrase.ts',
      'bin/commands/upgrade.ts',
      'bin/commands/rollback.ts'
    ],
    rooms: ['bin', 'backup', 'upgrade', 'transfer'],
    packages: ['node:', 'yargs']
  },
  'bin/serve': {
    files: [
      'bin/first-steps.ts',
      'bin/reach-offers.ts',
      'bin/start-warnings.ts',
      'bin/commands/serve.ts',
      'bin/commands/internal/trial-start.ts',
      'bin/commands/doctor.ts',
      'bin/commands/users.ts',
      'bin/commands/token.ts',
      'bin/commands/invite.ts'
    ],
    rooms: ['bin', 'bin/certificates', 'create', 'doctor'],
    packages: ['node:', 'yargs']
  },
  'bin/certificates': {
    files: ['bin/certificates.ts', 'bin/commands/internal/make-certificate.ts'],
    rooms: ['bin', 'https'],
    packages: ['node:', 'yargs']
  },
  bin: { files: ['bin/'], rooms: ['wrapper/run', ...common], packages: ['node:', 'yargs', 'undici', 'smol-toml'] }
}

const exceptions = [
  // Signatures are all that the server checks with the clients' own crypto; create waits until it is loaded.
  { from: 'lib/server/create.ts', to: 'lib/crypto/sign.ts' },
  { from: 'lib/server/actions/sign-in/signatures.ts', to: 'lib/crypto/sign.ts' },
  // Commands are loaded when they run, so the list of them loads nothing.
  { from: 'bin/commands.ts', to: 'bin/commands/serve.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/internal/make-certificate.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/backup.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/restore.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/migrate-store.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/import-happy.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/upgrade.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/rollback.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/internal/trial-start.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/users.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/token.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/invite.ts', isDynamic: true },
  { from: 'bin/commands.ts', to: 'bin/commands/doctor.ts', isDynamic: true }
]

const drivers = ['sqlite', 'postgres', 'redis']

/** Why an import breaks the rules, in a sentence, or undefined if it is allowed. */
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
  if (target === undefined || !reach(room).has(target) || rooms[room]?.not?.includes(target))
    return `${from} imports ${to}, and no arrow goes from ${room} to ${target}`
  const driver = target.split('/')[0] ?? target
  if (drivers.includes(driver) && driver !== room.split('/')[0] && !isDynamic)
    return `${from} imports the driver ${to} although it may not be the one in use`
  return undefined
}

/**
 * Sources of the edge or of the control socket that name the store, which is for actions: `deps.store`, or `store` destructured from
 * it. Types have the name only in quotes. `control/ask.ts` opens the store if no server runs.
 */
export function storeNamesOf(sources: Iterable<readonly [file: string, text: string]>): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (!/^lib\/server\/(?:edge|control)\//.test(file) || file === 'lib/server/control/ask.ts') return []
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, '')
    return /\bstore\b/.test(code) ? [file] : []
  })
}

/**
 * Groups of files that all reach each other. None of them can be read, tested or moved
 * without the rest. Type imports count, and so do dynamic ones, since the loaded file depends on what it is given.
 */
export function circlesOf(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>()
  for (const { from, specifier } of imports)
    if (specifier.startsWith('.')) targets.set(from, [...(targets.get(from) ?? []), posix.join(posix.dirname(from), specifier)])
  const reached = new Map([...targets.keys()].map(file => [file, reachedFrom(file, targets)]))
  const circles: string[][] = []
  for (const [file, others] of reached) {
    if (!others.has(file) || circles.some(circle => circle.includes(file))) continue
    circles.push([...others].filter(other => reached.get(other)?.has(file)).sort())
  }
  return circles
}

function reachedFrom(file: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const open = [file]
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const target of targets.get(next) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  return reached
}

const namesOfManyFiles = [
  // The properties of every command that yargs reads.
  { files: /^bin\/commands\//, names: ['builder', 'handler', 'handlerFor'] },
  // The same texts in another language.
  { files: /^web\/words\/zh\//, names: undefined },
  // One of the two is bundled, under the other's name.
  { files: /^lib\/crypto\/(?:engine-noble|signing-noble)\.ts$/, names: undefined }
]

/**
 * Exported names that two files of one part declare, with these files: a search for a name must find one thing. Re-exports do
 * not count.
 */
export function sharedNamesOf(sources: Iterable<readonly [file: string, text: string]>): string[] {
  const declaredBy = new Map<string, string[]>()
  for (const [file, text] of sources) {
    const part = partOf(file)
    for (const name of declaredNames(text)) {
      if (namesOfManyFiles.some(({ files, names }) => files.test(file) && (names?.includes(name) ?? true))) continue
      const key = `${part} ${name}`
      declaredBy.set(key, [...(declaredBy.get(key) ?? []), file])
    }
  }
  return [...declaredBy].filter(([, files]) => files.length > 1).map(([key, files]) => `${key.split(' ')[1]}: ${files.join(', ')}`)
}

// The agents are separate parts: the same role has the same name in each of them.
function partOf(file: string): string {
  const agent = /^lib\/wrapper\/agents\/[a-z]+\//.exec(file)?.[0]
  if (agent !== undefined) return agent
  if (/^lib\/(?:client|protocol|crypto|async|local-socket)\//.test(file)) return 'lib/client/'
  return /^(?:lib\/wrapper\/|[^/]+\/)/.exec(file)?.[0] ?? ''
}

function declaredNames(text: string): Set<string> {
  const declarations = text.matchAll(/^export (?:async |abstract )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm)
  return new Set([...declarations].map(([, name = '']) => name))
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
