import t, { type Test } from 'tap'
import { readPicked } from '../../../../web/model/session/picked-file.ts'

const mostBytes = 10 * 1024 * 1024 - 64
const file = (bytes: BlobPart[], name: string, type = '') => new File(bytes, name, { type })

/** A browser that shows pictures of this size, and makes JPEGs of so many bytes; without a size it shows none. */
function browser(t: Test, size: { width: number; height: number } | undefined, jpegBytes = 3) {
  const state = { closed: 0, drawn: [] as unknown[], asked: [] as unknown[] }
  const bitmap = size && { ...size, close: () => state.closed++ }
  class Canvas {
    readonly size: number[]
    constructor(width: number, height: number) {
      this.size = [width, height]
    }
    getContext(kind: string) {
      return { drawImage: (...about: unknown[]) => state.drawn.push([kind, ...this.size, ...about]) }
    }
    async convertToBlob(how: unknown) {
      state.asked.push(how)
      return new Blob([new Uint8Array(jpegBytes)])
    }
  }
  t.intercept(globalThis as Record<string, unknown>, 'createImageBitmap', {
    value: async () => bitmap ?? Promise.reject(new Error('unknown format'))
  })
  t.intercept(globalThis as Record<string, unknown>, 'OffscreenCanvas', { value: Canvas })
  return { state, bitmap }
}

t.test('a file is read with its name and type, or usual ones', async t => {
  browser(t, undefined)
  const bytes = new TextEncoder().encode('pears')
  t.same(await readPicked(file(['pears'], 'pears.txt', 'text/plain')), {
    name: 'pears.txt',
    mimeType: 'text/plain',
    bytes,
    image: undefined
  })
  t.same(await readPicked(file(['pears'], '')), { name: 'file', mimeType: 'application/octet-stream', bytes, image: undefined })
})

t.test('a file that is empty, too large or gone cannot be sent', async t => {
  t.equal(await readPicked(file([], 'nothing.txt')), 'empty')
  const sized = (size: number) =>
    Object.assign(file(['x'], 'a.bin'), {}) && Object.defineProperty(file(['x'], 'a.bin'), 'size', { value: size })
  t.equal(await readPicked(sized(mostBytes + 1)), 'too-large')
  t.match(await readPicked(sized(mostBytes)), { name: 'a.bin' })
  const moved = Object.assign(file(['x'], 'a.bin'), { arrayBuffer: () => Promise.reject(new Error('moved')) })
  t.equal(await readPicked(moved), 'unreadable')
})

t.test('a picture is read with its size, also if this browser cannot show it', async t => {
  const { state } = browser(t, { width: 30, height: 20 })
  t.match(await readPicked(file(['x'], 'tree.png', 'image/png')), { mimeType: 'image/png', image: { width: 30, height: 20 } })
  t.equal(state.closed, 1)
  t.match(await readPicked(file(['x'], 'tree.png', 'text/image/png')), { image: undefined }, 'only by its type')
  browser(t, undefined)
  t.match(await readPicked(file(['x'], 'tree.png', 'image/png')), { name: 'tree.png', image: undefined })
})

t.test('a photo that agents cannot see is converted where the browser can show it', async t => {
  const { state, bitmap } = browser(t, { width: 30, height: 20 })
  const jpeg = { mimeType: 'image/jpeg', bytes: new Uint8Array(3), image: { width: 30, height: 20 } }
  t.same(await readPicked(file(['x'], 'Tree.HEIC')), { name: 'Tree.jpg', ...jpeg })
  t.same(await readPicked(file(['x'], 'tree.heif', 'image/heif')), { name: 'tree.jpg', ...jpeg })
  t.same(await readPicked(file(['x'], 'tree', 'image/heic')), { name: 'tree', ...jpeg })
  t.same(state.drawn[0], ['2d', 30, 20, bitmap, 0, 0])
  t.same(state.asked[0], { type: 'image/jpeg', quality: 0.9 })
  for (const [name, type] of [
    ['heic.png', 'image/png'],
    ['a.heic.txt', 'text/plain'],
    ['tree.heix', '']
  ] as const)
    t.match(await readPicked(file(['x'], name, type)), { name }, name)
  t.equal(state.drawn.length, 3, 'nothing else is')
})

t.test('a converted photo may be too large, and where the browser cannot show it, it cannot be sent', async t => {
  browser(t, { width: 1, height: 1 }, mostBytes)
  t.match(await readPicked(file(['x'], 'tree.heic')), { name: 'tree.jpg' })
  browser(t, { width: 1, height: 1 }, mostBytes + 1)
  t.equal(await readPicked(file(['x'], 'tree.heic')), 'too-large')
  browser(t, undefined)
  t.equal(await readPicked(file(['x'], 'tree.heic')), 'no-heic')
})
