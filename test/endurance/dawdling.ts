import type { Socket } from 'node:net'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const toBody = 'POST /v1/auth HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

/** How a connection begins, and what comes on it each second after. */
const dawdlers: readonly (readonly [name: string, begin: string, drip: string])[] = [
  ['says nothing', '', ''],
  ['drips a head', 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Any: ', 'a'],
  ['drips a body', `${toBody}Content-Length: 900\r\n\r\n{`, ' '],
  ['stops in a body', `${toBody}Content-Length: 900\r\n\r\n{`, ''],
  ['idles after an answer', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n', '']
]
const mostSeconds = 30
const mostBytesEach = 16 * 1024

/** Connections that send too little to be answered. Each must be closed, cost little until then, and keep nobody waiting. */
export async function dawdling(t: Keeper, { data, connections }: { data: string; connections: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data })
  const port = Number(new URL(server.url).port)
  const { now: before } = memoryOf(server.child.pid)
  const beganAt = performance.now()
  const closedAfter = new Map<string, number>()
  const open = new Set<Promise<void>>()
  const dripping = new Map<Socket, string>()
  const timer = setInterval(() => {
    for (const [socket, drip] of dripping) socket.write(drip)
  }, 1000)
  for (let number = 0; number < connections; number += 1) {
    const [name, begin, drip] = dawdlers[number % dawdlers.length] ?? ['', '', '']
    const socket = await openTcp(t, { port })
    const openedAt = performance.now()
    socket.resume().write(begin)
    if (drip !== '') dripping.set(socket, drip)
    // That it comes as a reset is as good.
    const closed = new Promise(resolve => socket.once('close', resolve)).then(() => {
      dripping.delete(socket)
      open.delete(closed)
      closedAfter.set(name, Math.max(closedAfter.get(name) ?? 0, (performance.now() - openedAt) / 1000))
    })
    open.add(closed)
  }
  const askedAt = performance.now()
  const { status } = await fetch(`${server.url}/health`)
  const waited = performance.now() - askedAt
  const held = memoryOf(server.child.pid).now - before
  await Promise.all(open)
  clearInterval(timer)

  const slowest = [...closedAfter].map(([name, seconds]) => `${name}: ${seconds.toFixed(0)} s`)
  return {
    told: `${connections} connections in ${((performance.now() - beganAt) / 1000).toFixed(0)} s held ${(held / mib).toFixed(0)} MiB, health answered in ${waited.toFixed(0)} ms; closed after ${slowest.join(', ')}`,
    complaints: [
      ...(status === 200 ? [] : [`/health was answered with ${status}.`]),
      ...(held < 64 * mib + connections * mostBytesEach ? [] : [`${connections} connections held ${(held / mib).toFixed(0)} MiB.`]),
      ...[...closedAfter].flatMap(([name, seconds]) => (seconds > mostSeconds ? [`Who ${name} was closed after ${seconds} s only.`] : []))
    ]
  }
}
