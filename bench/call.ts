import { bareCalls } from './kit/bare-calls.ts'
import { isChild, type Target } from './kit/child.ts'
import { compareCosts, type Load } from './kit/compare.ts'
import { openRawSocket } from './kit/raw-socket.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's processor time for a call from a phone to a machine and its answer: Afield beside bare uWebSockets that finds
 * the callee in a map and forwards the two texts.
 */
const rounds = 3
const textBytes = 1_000
const cases = [
  { title: 'one call at a time', callers: 1, callsEach: 1, calls: 40_000 },
  { title: '32 calls under way', callers: 8, callsEach: 4, calls: 40_000 }
]
const method = 'machine-1:bench'

if (isChild) await (process.argv[2] === 'bare' ? bareCalls() : afieldServer())
else await main()

async function main() {
  console.log(`call: ${textBytes} bytes there and back; µs of CPU per call, median of ${rounds}`)
  for (const { title, callers, callsEach, calls } of cases) {
    await compareCosts({
      file: import.meta.filename,
      title,
      rounds,
      pieces: calls,
      open: ({ target }) => openCalls(target, { callers, callsEach })
    })
  }
}

async function openCalls(target: Target, { callers, callsEach }: { callers: number; callsEach: number }): Promise<Load> {
  const callee = await openCallee(target)
  const open = await Promise.all(Array.from({ length: callers }, () => openCaller(target)))
  return {
    async run(calls) {
      let left = calls
      const keepCalling = async (call: () => Promise<void>) => {
        while (left > 0) {
          left -= 1
          await call()
        }
      }
      await Promise.all(open.flatMap(({ call }) => Array.from({ length: callsEach }, () => keepCalling(call))))
    },
    async close() {
      for (const socket of [callee, ...open]) socket.close()
    }
  }
}

async function openCallee({ port, token }: Target) {
  const answer = JSON.stringify(['QUJD'.repeat(textBytes / 4)])
  const { promise: registered, resolve } = Promise.withResolvers<void>()
  const socket = await openRawSocket({
    port,
    auth: { token, clientType: 'machine-scoped', machineId: 'machine-1' },
    onPacket(packet) {
      const head = packet.toString('latin1', 0, 40)
      const ackId = /^42(\d+)\["rpc-request"/.exec(head)?.[1]
      if (ackId !== undefined) socket.send(`43${ackId}${answer}`)
      else if (head.startsWith('42["rpc-registered"')) resolve()
    }
  })
  socket.send(`42${JSON.stringify(['rpc-register', { method }])}`)
  await registered
  return socket
}

async function openCaller({ port, token }: Target) {
  const request = JSON.stringify(['rpc-call', { method, params: 'QUJD'.repeat(textBytes / 4) }])
  const waiting = new Map<string, () => void>()
  let last = 0
  const socket = await openRawSocket({
    port,
    auth: { token, clientType: 'user-scoped' },
    onPacket(packet) {
      const answer = /^43(\d+)\[(\{"ok":true)?/.exec(packet.toString('latin1', 0, 40))
      if (!answer) return
      if (answer[2] === undefined) throw new Error(`The call failed: ${packet}`)
      waiting.get(answer[1] ?? '')?.()
    }
  })
  return {
    call(): Promise<void> {
      last += 1
      const ackId = String(last)
      socket.send(`42${ackId}${request}`)
      return new Promise(resolve => {
        waiting.set(ackId, () => {
          waiting.delete(ackId)
          resolve()
        })
      })
    },
    close: socket.close
  }
}
