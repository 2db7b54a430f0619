import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A line to a server that a test can cut, stall or take away altogether. */
export interface Line {
  url: string
  /** Ends all connections as a router does that was switched off and on: with a reset. */
  cut(): void
  /** Lets nothing through any more, in either direction, without anybody noticing. New connections hang too. */
  stall(): void
  /** New connections go through again; stalled ones stay dead. */
  heal(): void
  /** Every attempt to connect is refused until the port is opened again. */
  closePort(): Promise<void>
  openPort(): Promise<void>
  /** Connections begun so far. */
  readonly connects: number
}

export async function layLine(t: Test, target: string): Promise<Line> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  let isStalled = false
  let connects = 0

  const server = createServer(near => {
    connects++
    const far = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const socket of pair) socket.setNoDelay(true).on('error', () => {})
    near.once('close', () => {
      far.destroy()
      pairs.delete(pair)
    })
    far.once('close', () => near.destroy())
    if (isStalled) return
    near.pipe(far)
    far.pipe(near)
  })
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  const closePort = async () => {
    const closed = once(server, 'close')
    server.close()
    cut()
    await closed
  }
  const at = await listen(0)
  t.teardown(async () => {
    if (server.listening) await closePort()
  })

  return {
    url: `http://127.0.0.1:${at}`,
    cut,
    stall() {
      isStalled = true
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        near.resume()
        far.resume()
      }
    },
    heal() {
      isStalled = false
    },
    closePort,
    openPort: async () => void (await listen(at)),
    get connects() {
      return connects
    }
  }
}
