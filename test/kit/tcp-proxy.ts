import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A connection to a server that a test can cut, stall, slow down or block. */
export interface TcpProxy {
  url: string
  /** Ends all connections with a reset, like a rebooted router. */
  cut(): void
  /** Closes all connections in order, as if either side had hung up. */
  hangUp(): void
  /** Like `cut`, after this many more bytes from the server on all connections together. */
  cutAfter(bytes: number): void
  /** The server sees the end of every connection; its clients see and receive nothing. */
  halfOpen(): void
  /** Drops all traffic in both directions, silently. New connections hang too. */
  stall(): void
  /** New connections pass again; stalled ones stay dead. */
  heal(): void
  /** Limits the server's bytes to this rate from now on. */
  throttle(bytesPerSecond: number): void
  /** New connections go to this server from now on. */
  moveTo(target: string): void
  /** Rejects every attempt to connect until the port is opened again. */
  closePort(): Promise<void>
  openPort(): Promise<void>
  /** Connections so far. */
  readonly connects: number
}

interface Pair {
  near: Socket
  far: Socket
}

/** With `localAddress`, the server sees connections from another address of this computer. */
export async function openTcpProxy(
  t: Pick<Test, 'teardown'>,
  target: string,
  { localAddress }: { localAddress?: string } = {}
): Promise<TcpProxy> {
  let { hostname, port } = new URL(target)
  const pairs = new Set<Pair>()
  let isStalled = false
  let bytesPerSecond = Number.POSITIVE_INFINITY
  let bytesLeft = Number.POSITIVE_INFINITY
  let connects = 0

  const server = createServer({ allowHalfOpen: true }, near => {
    connects++
    const far = connect({ port: Number(port), host: hostname, allowHalfOpen: true, ...(localAddress && { localAddress }) })
    const pair = { near, far }
    pairs.add(pair)
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', () => {})
    near.once('close', () => {
      far.destroy()
      pairs.delete(pair)
    })
    far.once('close', () => pairs.has(pair) && near.destroy())
    if (isStalled) return
    near.pipe(far)
    far.on('end', () => near.end())
    far.on('data', chunk => pass(pair, chunk))
  })

  function pass({ near, far }: Pair, chunk: Buffer) {
    near.write(chunk.subarray(0, bytesLeft))
    bytesLeft -= chunk.length
    if (bytesLeft <= 0) {
      bytesLeft = Number.POSITIVE_INFINITY
      cut()
    } else if (bytesPerSecond !== Number.POSITIVE_INFINITY) {
      far.pause()
      setTimeout(() => far.resume(), (chunk.length / bytesPerSecond) * 1000).unref()
    } else if (near.writableNeedDrain) {
      far.pause()
      near.once('drain', () => far.resume())
    }
  }
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  function cut() {
    for (const { near, far } of pairs) {
      reset(near)
      reset(far)
    }
  }
  function silence({ near, far }: Pair) {
    near.unpipe(far).resume()
    far.removeAllListeners('data').removeAllListeners('end').resume()
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
    hangUp() {
      for (const { near, far } of pairs) {
        near.end()
        far.end()
      }
    },
    cutAfter(bytes) {
      bytesLeft = bytes
    },
    halfOpen() {
      for (const pair of pairs) {
        silence(pair)
        pair.far.removeAllListeners('close').destroy()
      }
    },
    stall() {
      isStalled = true
      for (const pair of pairs) silence(pair)
    },
    heal() {
      isStalled = false
    },
    throttle(pace) {
      bytesPerSecond = pace
    },
    moveTo(target) {
      ;({ hostname, port } = new URL(target))
    },
    closePort,
    openPort: async () => void (await listen(at)),
    get connects() {
      return connects
    }
  }
}

// A reset after an end in progress fails inside Node.js, which then busy-waits forever for the socket to close.
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
