import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRest } from '../lib/client/link/rest.ts'
import { terminalVault } from '../lib/client/sealed/vault.ts'
import { toBase64 } from '../lib/crypto/bytes.ts'
import { createServer } from '../lib/server/create.ts'
import { openHome } from '../lib/wrapper/home/credentials.ts'
import { createSessionFolder, endedIn } from '../lib/wrapper/home/session-folder.ts'
import { linkedComputer } from '../test/wrapper/kit/world.ts'
import { runWrapper } from '../test/wrapper/kit/wrapper.ts'
import { cpuOf } from './kit/other-process.ts'

/** The cost of an idle daemon with one live session: without ended sessions, and with 2,000, both at the same time. */
const ended = 2_000
const settleMs = 10_000
const measuredMs = 30_000

const closing: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => void closing.unshift(close) }
const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
const server = await createServer({ port: 0, signup: 'open', limits: 'off', logLevel: 'silent', expoUrl: 'off', data })
t.teardown(() => server.close())

const few = await startDaemon(0)
const many = await startDaemon(ended)
await pause(settleMs)
const before = [few, many].map(cpuOf)
await pause(measuredMs)
const [ofFew = 0, ofMany = 0] = [few, many].map((pid, at) => (cpuOf(pid) - (before[at] ?? 0)) * (60_000 / measuredMs))
console.log('daemon: idle, beside one session that lives')
console.log(`  processor time in a minute   no ended session ${ofFew.toFixed(0)} ms   ${ended} of them ${ofMany.toFixed(0)} ms`)
for (const close of closing) await close()
rmSync(data, { recursive: true, force: true })
process.exit(0)

async function startDaemon(count: number): Promise<number> {
  const { home, phone } = await linkedComputer(t, server)
  for (let at = 0; at < count; at++) await endedSession(home, `ended-${at}`)
  const session = runWrapper(t, { home, args: ['demo'] })
  await phone.session()
  await session.says(/live/)
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  return daemon.child.pid ?? 0
}

/** As left by an agent that reported its commands. */
async function endedSession(path: string, tag: string): Promise<void> {
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is linked')
  const { cipher, wrapped, raw } = terminalVault(credentials.keys).newSessionKey()
  const commands = Array.from({ length: 60 }, (_, index) => `command-${index}`)
  const metadata = { path: '/home/mira/orchard', host: 'studio', lifecycleState: 'archived', slashCommands: commands }
  const rest = createRest({ server: server.url, token: credentials.token, fetch })
  const { session } = await rest.call('openSession', { body: { tag, metadata: cipher.seal(metadata), dataEncryptionKey: wrapped } })
  const key = toBase64(raw)
  const notes = { tag, id: session.id, server: server.url, program: { kind: 'demo' as const }, key, metadata, cursor: 0, turn: null }
  renameSync(createSessionFolder(path, notes).path, join(endedIn(path), tag))
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
