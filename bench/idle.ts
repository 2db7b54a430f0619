import { bareIdle } from './kit/bare-idle.ts'
import { type Child, isChild } from './kit/child.ts'
import { compare } from './kit/compare.ts'
import { openRawSocket } from './kit/raw-socket.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's private memory for an idle connection, after a garbage collection: Afield, where
 * each belongs to an account and is pinged, beside bare uWebSockets after the same handshake.
 */
const rounds = 3
const connections = 10_000
const accounts = 1_000
/** Triggers the one-time allocations of a process before anything is counted. */
const before = 500
const atOnce = 100

if (isChild) await (process.argv[2] === 'bare' ? bareIdle() : afieldServer())
else await main()

async function main() {
  console.log(`idle: ${connections} connections of ${accounts} accounts; bytes of private memory each, median of ${rounds}`)
  await compare({ file: import.meta.filename, title: 'one connection', unit: 'B', rounds, accounts, measure })
}

async function measure(child: Child): Promise<number> {
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
