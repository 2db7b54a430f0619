import t, { type Test } from 'tap'
import { encode } from 'uqr'
import { type Eye, lookForCodes } from '../../../web/join/camera.ts'
import { pageGlobals } from '../kit/page-globals.ts'

t.test('a code is told once, however long it is seen, and the camera is let go at the end', async t => {
  const seen = [undefined, 'one', 'one', undefined, 'one', 'two']
  let isStopped = false
  standIn(t, navigator, 'mediaDevices', {
    getUserMedia: async () => ({ getTracks: () => [{ stop: () => (isStopped = true) }] })
  })
  standIn(
    t,
    globalThis,
    'BarcodeDetector',
    class {
      static async getSupportedFormats() {
        return ['qr_code']
      }
      async detect() {
        const rawValue = seen.shift()
        return rawValue === undefined ? [] : [{ rawValue }]
      }
    }
  )
  const told: string[] = []
  const isOver = Promise.withResolvers<void>()
  // Of the element only this is used.
  const video = { play: async () => {} } as HTMLVideoElement
  const close = lookForCodes(video, {
    onEye: eye => t.equal(eye, 'open'),
    onText(text) {
      told.push(text)
      if (text === 'two') isOver.resolve()
    }
  })
  await isOver.promise
  close()
  t.same(told, ['one', 'two'])
  t.ok(isStopped)
})

const camera = (open: () => Promise<unknown>) => ({ getUserMedia: open })
const withStream = camera(async () => ({ getTracks: () => [] }))

t.test('a camera that is denied or missing is told', async t => {
  const rows: [Eye, unknown][] = [
    ['denied', camera(() => Promise.reject(new DOMException('', 'NotAllowedError')))],
    ['none', camera(() => Promise.reject(new DOMException('', 'NotFoundError')))],
    ['none', camera(() => Promise.reject(new Error('NotAllowedError')))],
    ['none', undefined]
  ]
  for (const [expected, mediaDevices] of rows) {
    standIn(t, navigator, 'mediaDevices', mediaDevices)
    const { promise, resolve } = Promise.withResolvers<Eye>()
    lookForCodes({} as HTMLVideoElement, { onEye: resolve, onText: t.fail })
    t.equal(await promise, expected)
  }
  standIn(t, navigator, 'mediaDevices', withStream)
  const { promise, resolve } = Promise.withResolvers<Eye>()
  lookForCodes({ play: () => Promise.reject(new Error('no picture')) } as unknown as HTMLVideoElement, { onEye: resolve, onText: t.fail })
  t.equal(await promise, 'none', 'nor does one help that shows no picture')
})

/** What a camera sees: this code in a picture of this size, or nothing yet. */
function videoOf(text: string, width: number, height: number) {
  const { data, size } = encode(text, { border: 3 })
  const unit = Math.min(width, height) / size
  return {
    play: async () => {},
    videoWidth: width,
    videoHeight: height,
    isDark: (x: number, y: number) => data[Math.floor(y / unit)]?.[Math.floor(x / unit)] ?? false
  }
}

type Video = ReturnType<typeof videoOf>

/** A page that can draw pictures, unless it cannot; and how large it drew them. */
function drawing(t: Test, canDraw = true) {
  const sizes: string[] = []
  const canvas = { width: 300, height: 150, getContext: () => (canDraw ? context : null) }
  let pixels = new Uint8ClampedArray()
  const context = {
    drawImage(video: Video, left: number, top: number, width: number, height: number) {
      sizes.push(`${width}x${height}`)
      pixels = new Uint8ClampedArray(canvas.width * canvas.height * 4)
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
          const isDark = video.isDark(((x + 0.5) * video.videoWidth) / width, ((y + 0.5) * video.videoHeight) / height)
          pixels.set(isDark ? [0, 0, 0, 255] : [255, 255, 255, 255], ((top + y) * canvas.width + left + x) * 4)
        }
    },
    getImageData: (left: number, top: number, width: number, height: number) => {
      t.same([left, top, width, height], [0, 0, canvas.width, canvas.height])
      return { width, height, data: pixels }
    }
  }
  pageGlobals(t, { document: { createElement: (name: string) => (name === 'canvas' ? canvas : undefined) } })
  standIn(t, navigator, 'mediaDevices', withStream)
  return sizes
}

function firstCode(t: Test, video: Video): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const close = lookForCodes(video as unknown as HTMLVideoElement, { onEye: eye => t.equal(eye, 'open'), onText: resolve })
  return promise.finally(close)
}

t.test('a browser that reads no codes itself reads them too, from pictures that are not too large', async t => {
  const detectors: [what: string, Detector: unknown][] = [
    ['there is none', undefined],
    ['other codes only', { getSupportedFormats: async () => ['ean_13'] }],
    ['it fails', { getSupportedFormats: () => Promise.reject(new Error('not on this system')) }]
  ]
  for (const [what, Detector] of detectors) {
    standIn(t, globalThis, 'BarcodeDetector', Detector)
    for (const [width, height, drawn] of [
      [400, 300, '400x300'],
      [1440, 1080, '720x540'],
      [1081, 1441, '540x720']
    ] as const) {
      const sizes = drawing(t)
      t.equal(await firstCode(t, videoOf('afield://link', width, height)), 'afield://link', what)
      t.same(sizes, [drawn])
    }
  }
})

t.test('a camera without a picture so far is asked again, and one without a code', async t => {
  const sizes = drawing(t)
  const video = videoOf('afield://later', 400, 300)
  const { isDark } = video
  let looks = 0
  const width = { get: () => (looks++ < 1 ? 0 : 400) }
  Object.defineProperty(video, 'videoWidth', width)
  let dark = 0
  video.isDark = (x, y) => (dark++ < 400 * 300 ? false : isDark(x, y))
  t.equal(await firstCode(t, video), 'afield://later')
  t.same(sizes, ['400x300', '400x300'])
})

function standIn(t: Test, owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, configurable: true })
  t.teardown(() => void Reflect.deleteProperty(owner, name))
}
