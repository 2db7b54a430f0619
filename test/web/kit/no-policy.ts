import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Test } from 'tap'

/** The address of a proxy whose pages lack the content security policy, which would block foreign scripts. */
export async function withoutPolicy(t: Test, url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const proxy = createServer(near => {
    const far = connect(Number(port), hostname)
    const hide = new Transform({
      // The same length, so that the rest of the stream stays valid.
      transform: (chunk: Buffer, _, done) => done(null, Buffer.from(chunk.toString('latin1').replace(policy, hidden), 'latin1'))
    })
    // A browser that navigates away cuts the stream.
    void pipeline(near, far).catch(() => {})
    void pipeline(far, hide, near).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const address = proxy.address()
  if (typeof address !== 'object' || address === null) throw new Error('A listening server has an address.')
  return `http://127.0.0.1:${address.port}`
}

const policy = /\r\ncontent-security-policy:/i
const hidden = '\r\nx-ontent-security-policy:'
