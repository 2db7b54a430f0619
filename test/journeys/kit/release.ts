import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Test } from 'tap'

/** A proxy that makes the server's app look like another build once `publish` is called: the same files under another build name. */
export async function openRelease(t: Test, url: string): Promise<{ url: string; publish(): void }> {
  const { hostname, port } = new URL(url)
  const [build = ''] = /afield-[0-9a-f]{16}/.exec(readFileSync('build/web/worker.js', 'utf8')) ?? []
  let isNewer = false
  const proxy = createServer(near => {
    const far = connect(Number(port), hostname)
    // Requests become uncompressed and unconditional, so that the body can be changed; replacements keep the length.
    void pipeline(
      near,
      replacing([
        [/\r\naccept-encoding:/gi, '\r\nx-ccept-encoding:'],
        [/\r\nif-none-match:/gi, '\r\nx-f-none-match:']
      ]),
      far
    ).catch(() => {})
    const rename = () => (isNewer ? build.replace(/-.*/, '-newernewernewern') : build)
    void pipeline(far, replacing([[new RegExp(build, 'g'), rename]]), near).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const address = proxy.address()
  if (typeof address !== 'object' || address === null) throw new Error('A listening server has an address.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    publish() {
      isNewer = true
    }
  }
}

function replacing(pairs: readonly (readonly [RegExp, string | (() => string)])[]): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const text = pairs.reduce((text, [from, to]) => text.replace(from, typeof to === 'string' ? () => to : to), chunk.toString('latin1'))
      done(null, Buffer.from(text, 'latin1'))
    }
  })
}
