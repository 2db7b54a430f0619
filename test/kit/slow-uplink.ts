import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { Test } from 'tap'

const stepMs = 100

/** A slow connection from client to server, as from a phone at the edge of its cell. */
export async function openSlowUplink(
  t: Pick<Test, 'teardown'>,
  target: string,
  { bytesPerSecond, cutAfter = [] }: { bytesPerSecond: number; cutAfter?: number[] }
): Promise<{ url: string; sent: () => number }> {
  const { hostname, port } = new URL(target)
  const cuts = [...cutAfter]
  let sent = 0
  const server = createServer(near => {
    const far = connect({ port: Number(port), host: hostname })
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', () => {})
    far.pipe(near)
    const step = setInterval(() => {
      const chunk: Buffer | null = near.read(Math.min(near.readableLength, (bytesPerSecond * stepMs) / 1000))
      if (!chunk) return
      far.write(chunk)
      sent += chunk.length
      if (sent <= (cuts[0] ?? Number.POSITIVE_INFINITY)) return
      cuts.shift()
      near.resetAndDestroy()
      far.destroy()
    }, stepMs)
    near.on('readable', () => {})
    near.once('close', () => {
      clearInterval(step)
      far.destroy()
    })
    far.once('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent }
}
