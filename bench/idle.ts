import { parseArgs } from 'node:util'
import { bareIdle } from './kit/bare-idle.ts'
import { type Child, isChild } from './kit/child.ts'
import { compare } from './kit/compare.ts'
import { recordPoints } from './kit/points.ts'
import { openRawSocket } from './kit/raw-socket.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's private memory for an idle connection, after a garbage collection: Afield, where
 * each belongs to an account and is pinged, beside bare uWebSockets after the same handshake.
 *
 *   --record    several numbers of connections, for the curves of docs/benchmarks.md
 */
const rounds = 3
const most = 10_000
const accounts = 1_000
/** Triggers the one-time allocations of a process before anything is counted. */
const before = 500
const atOnce = 100

if (isChild) await (process.argv[2] === 'bare' ? bareIdle() : afieldServer())
else await main()

async function main() {
  const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } })
  const record = values.record ? recordPoints('connections') : () => {}
  console.log(`idle: connections of ${accounts} accounts; bytes of private memory each, median of ${rounds}`)
  for (const connections of values.record ? [1_000, 2_500, 5_000, most] : [most]) {
    const title = `one of ${connections.toLocaleString('en')} connections`
    const measure = (child: Child) => bytesOfEach(child, connections)
    const { afield } = await compare({ file: import.meta.filename, title, unit: 'B', rounds, accounts, measure })
    // The bare ones are lost in the noise of a process while they are few.
    record('afield', connections, afield)
  }
}

async function bytesOfEach(child: Child, connections: number): Promise<number> {
  const first = await open(child, before)
  const empty = await child.privateBytes()
  const others = await open(child, connections)
  const full = await child.privateBytes()
  for (const socket of [...first, ...others]) socket.close()
  return (full - empty) / connections
}

async function open({ target }: Child, count: number) {
  const sockets: Awaited<ReturnType<typeof openRawSocket>>[] = []
  for (let from = 0; from < count; from += atOnce) {
    const opening = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => {
      const number = from + index
      const token = target.tokens[number % target.tokens.length] ?? ''
      // One address does not have enough ports for many rounds.
      return openRawSocket({
        port: target.port,
        auth: { token, clientType: 'user-scoped' },
        localAddress: `127.0.0.${2 + (number % 16)}`
      })
    })
    sockets.push(...(await Promise.all(opening)))
  }
  return sockets
}
