import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { portToKeep } from '../test/kit/port.ts'
import { fetchPackages } from '../test/kit/published.ts'
import { openTcpProxy, type TcpProxy } from '../test/kit/tcp-proxy.ts'
import { median } from './kit/compare.ts'
import { cpuOf, cpuWithChildren, memoryOf } from './kit/other-process.ts'
import { afield } from './peers/afield.ts'
import { hapi } from './peers/hapi.ts'
import { opencode } from './peers/opencode.ts'
import { type Conversation, countBytes, type Ending, type Peer, startPeer } from './peers/peer.ts'

/**
 * Afield beside other programs from npm, each with its own server, wrapper and protocol, and with the same agent: what an outage and a kill of the
 * server lose, and what a message, a phone and a start cost. Linux only: they run in turns in a network of their own, without the internet, so
 * that none of them reaches services of its authors. AFIELD_PROGRAM measures a built program of ours, otherwise it runs from its sources.
 *
 *   --only …   starts, outage, kills, messages or phone
 */
const { values: given } = parseArgs({ options: { only: { type: 'string' } } })
const rounds = 5
const idleMs = 6_000
const outageSeconds = 60
const kills = 5
/** Until every client is back, and has sent what it kept. */
const betweenKillsMs = 12_000
/** Longer than any client waits before it connects again. */
const quietMs = 45_000
const messages = 2_000
/** As in bench/phone.ts, whose turns take 90 seconds. */
const turnMs = 90_000
const turnsOfAnHour = 40

/** Looked at in November 2026; install scripts of others do not run here. */
const notRun = {
  "Happy's own server": 'not on npm; its clients run with our server in `test/interop/`',
  '`vibetunnel` 1.0.0-beta.15.1, `claude-code-remote` 0.1.9': 'their install scripts build or fetch what they need',
  '`agentdeck` 0.4.2, `@siteboon/claude-code-ui` 1.12.0': 'they need `node-pty`, whose install script builds it or fetches it'
}

/** Nobody is told of the first; in the second all connections are reset and refused. */
const outages: Record<string, { down(line: TcpProxy): unknown; up(line: TcpProxy): unknown }> = {
  silent: { down: line => line.stall(), up: line => line.heal() },
  refused: { down: line => line.closePort(), up: line => line.openPort() }
}

const source = join(import.meta.dirname, 'peers', 'published')
const packages = fetchPeers()
if (packages !== undefined && Object.keys(networkInterfaces()).some(name => name !== 'lo')) runApart()
else if (packages !== undefined) await main(packages)

function fetchPeers(): string | undefined {
  try {
    return join(fetchPackages(source), 'node_modules')
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    console.log(`peers: skipped, since the npm registry does not give the other programs: ${reason}`)
    return undefined
  }
}

/** Runs this file again where there is no other network; or says why not. */
function runApart(): void {
  const apart = [process.getuid?.() === 0 ? '-n' : '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  if (spawnSync('unshare', [...apart, 'true']).status === 0)
    process.exitCode = spawnSync('unshare', [...apart, process.execPath, ...process.argv.slice(1)], { stdio: 'inherit' }).status ?? 1
  else console.log('peers: skipped, since no network of their own can be made here: it needs Linux, iproute2, and root or user namespaces.')
}

async function main(packages: string): Promise<void> {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const peers = [afield, hapi(packages), opencode(packages)]
  console.log(
    `peers: ${Object.entries(dependencies)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}, and ours`
  )
  const table = new Map<string, Map<Peer, string>>()
  const tell = (row: string, peer: Peer, cell: string) => {
    console.log(`  ${peer.name.padEnd(10)} ${row}: ${cell}`)
    table.set(row, (table.get(row) ?? new Map()).set(peer, cell))
  }
  const measures = { starts, outage, kills: killing, messages: working, phone: watching }
  for (const [name, measure] of Object.entries(measures)) if (given.only === undefined || given.only === name) await measure(peers, tell)

  console.log(`\n| | ${peers.map(({ name }) => name).join(' | ')} |\n| --- ${'| --- '.repeat(peers.length)}|`)
  for (const [row, cells] of table) console.log(`| ${row} | ${peers.map(peer => cells.get(peer) ?? 'not run').join(' | ')} |`)
  console.log('\nNot run:')
  for (const { name, converse } of peers)
    if (typeof converse === 'string') console.log(`- ${name}, all but size, start and memory: ${converse}.`)
  for (const [what, why] of Object.entries(notRun)) console.log(`- ${what}: ${why}.`)
}

type Tell = (row: string, peer: Peer, cell: string) => void

async function starts(peers: readonly Peer[], tell: Tell): Promise<void> {
  const places = await Promise.all(peers.map(async () => ({ port: await portToKeep(), data: newFolder() })))
  const all = peers.map((): { cpuMs: number; ms: number }[] => [])
  for (let round = -1; round < rounds; round++)
    for (const [at, peer] of peers.entries()) {
      const { port = 0, data = '' } = places[at] ?? {}
      await during(async t => {
        const { pid, kill, ...start } = await startPeer(t, peer, port, data)
        // The first start makes the data.
        if (round >= 0) all[at]?.push(start)
        if (round !== 0) return
        await pause(idleMs)
        tell('size on disk', peer, peer.installed === undefined ? 'not built' : mb(sizeOf(peer.installed)))
        tell(
          `memory ${idleMs / 1000} s later: private, PSS`,
          peer,
          `${memoryOf(pid, 'Private_Dirty').toFixed(0)}, ${memoryOf(pid, 'Pss').toFixed(0)} MB`
        )
      })
    }
  for (const [at, peer] of peers.entries()) {
    const of = (name: 'cpuMs' | 'ms') => median(all[at]?.map(start => start[name]) ?? []).toFixed(0)
    tell('start: processor time, until healthy', peer, `${of('cpuMs')}, ${of('ms')} ms`)
  }
  for (const { data } of places) rmSync(data, { recursive: true, force: true })
}

async function outage(peers: readonly Peer[], tell: Tell): Promise<void> {
  const everyMs = 100
  const said = (outageSeconds + 25) * (1000 / everyMs)
  for (const [way, { down, up }] of Object.entries(outages))
    await eachThatConverses(peers, 'line', async (peer, { session, line }) => {
      await session.say(`words ${said} every ${everyMs}`)
      await pause(5_000)
      await down(line)
      await pause(outageSeconds * 1000)
      await up(line)
      tell(`lost in ${outageSeconds} s without a link, ${way}`, peer, await lostOf(session, said))
    })
}

async function killing(peers: readonly Peer[], tell: Tell): Promise<void> {
  const everyMs = 20
  const said = (kills * (betweenKillsMs + 4_000)) / everyMs
  await eachThatConverses(peers, 'url', async (peer, { session, restart }) => {
    await session.say(`words ${said} every ${everyMs}`)
    for (let kill = 0; kill < kills; kill++) {
      await pause(betweenKillsMs)
      await restart()
    }
    tell(`lost by ${kills} kills of the server, ${1000 / everyMs} messages a second`, peer, await lostOf(session, said))
  })
}

async function working(peers: readonly Peer[], tell: Tell): Promise<void> {
  await eachThatConverses(peers, 'url', async (peer, { session, server }) => {
    // A quarter before, until the code is compiled.
    await session.say(`words ${messages / 4}`)
    await lostOf(session, messages / 4)
    const spent = () => [cpuWithChildren(server()), cpuOf(session.wrapper)]
    const before = spent()
    await session.say(`words ${messages}`)
    await pause(messages * 20)
    const costs = spent().map((ms, at) => (((ms - (before[at] ?? 0)) * 1000) / messages).toFixed(0))
    tell('processor time per message: server, wrapper', peer, `${costs.join(', ')} µs`)
    tell(
      'private memory after: server, wrapper',
      peer,
      `${memoryOf(server(), 'Private_Dirty').toFixed(0)}, ${memoryOf(session.wrapper, 'Private_Dirty').toFixed(0)} MB`
    )
  })
}

async function watching(peers: readonly Peer[], tell: Tell): Promise<void> {
  await eachThatConverses(peers, 'url', async (peer, { t, session, url }) => {
    const counted = await countBytes(t, url)
    await session.watch(t, counted.url)
    await pause(2_000)
    const before = counted.bytes()
    await session.say('turn')
    await pause(turnMs)
    tell('to a phone in an hour of a working agent', peer, mb((counted.bytes() - before) * turnsOfAnHour))
  })
}

interface Scene {
  t: Ending
  session: Conversation
  line: TcpProxy
  url: string
  server(): number
  restart(): Promise<void>
}

/** The wrapper connects through a link that can be cut, or to the server itself. */
async function eachThatConverses(
  peers: readonly Peer[],
  way: 'line' | 'url',
  run: (peer: Peer, scene: Scene) => Promise<void>
): Promise<void> {
  for (const peer of peers) {
    const { converse } = peer
    if (typeof converse === 'string') continue
    await during(async t => {
      const [data, folder, port] = [newFolder(), newFolder(), await portToKeep()]
      t.teardown(() => [data, folder].map(one => rmSync(one, { recursive: true, force: true, maxRetries: 3 })))
      for (const name of ['gemini', 'kimi']) symlinkSync(resolve('bench/kit/speaking-agent.mjs'), join(folder, name))
      let serving = await startPeer(t, peer, port, data)
      const line = await openTcpProxy(t, serving.url)
      const session = await converse({ t, url: serving.url, wrapperUrl: way === 'line' ? line.url : serving.url, folder })
      await pause(3_000)
      const restart = async () => {
        await serving.kill()
        serving = await startPeer(t, peer, port, data)
      }
      await run(peer, { t, session, line, url: serving.url, server: () => serving.pid, restart })
    })
  }
}

/** What a phone cannot read of so many messages, once nothing more comes: texts by their numbers, steps by their names. */
async function lostOf(session: Conversation, said: number): Promise<string> {
  const expected = Array.from({ length: said }, (_, index) => index).filter(index => index % 3 < 2)
  for (let lost = expected, quietSince = performance.now(); ; await pause(5_000)) {
    const found = new Set((await session.read()).match(/\d+: The apples|"call-\d+"/g))
    const missing = expected.filter(index => !found.has(index % 3 === 0 ? `${index}: The apples` : `"call-${Math.floor(index / 3)}"`))
    if (missing.length < lost.length) quietSince = performance.now()
    lost = missing
    if (lost.length > 0 && performance.now() - quietSince < quietMs) continue
    const gaps = lost.filter((index, at) => (lost[at - 1] ?? -3) < index - 2)
    const where = gaps.length === 0 ? '' : `, from ${gaps.join(', ')}`
    return `${lost.length} of ${expected.length}${where}`
  }
}

async function during(run: (t: Ending) => Promise<void>): Promise<void> {
  const closings: (() => unknown)[] = []
  try {
    await run({ teardown: (close: () => unknown) => void closings.unshift(close) })
  } finally {
    for (const close of closings) await close()
  }
}

/** Of a file, or of all in a folder. */
function sizeOf(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'afield-peers-'))
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`
}
