import t, { type Test } from 'tap'
import { lookForCodes } from '../../../web/join/camera.ts'

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

function standIn(t: Test, owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, configurable: true })
  t.teardown(() => void Reflect.deleteProperty(owner, name))
}
