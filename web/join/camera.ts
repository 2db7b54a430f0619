/** The state of the camera. */
export type Eye = 'starting' | 'open' | 'denied' | 'none'

/**
 * Shows the rear camera in `video` and scans for QR codes a few times a second, reporting each text once. Uses the
 * browser's detector if there is one, otherwise loads our own. Returns a function that closes the camera.
 */
export function lookForCodes(video: HTMLVideoElement, on: { onEye(eye: Eye): void; onText(text: string): void }): () => void {
  const closed = new AbortController()
  const watch = async () => {
    const stream = await openCamera()
    if (typeof stream === 'string') return on.onEye(stream)
    closed.signal.addEventListener('abort', () => {
      for (const track of stream.getTracks()) track.stop()
    })
    if (closed.signal.aborted) return
    video.srcObject = stream
    await video.play()
    on.onEye('open')
    const read = await codeReader()
    let last: string | undefined
    while (!closed.signal.aborted) {
      const text = await read(video).catch(() => undefined)
      if (text !== undefined && text !== last && !closed.signal.aborted) on.onText(text)
      last = text ?? last
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
  watch().catch(() => on.onEye('none'))
  return () => closed.abort()
}

const pauseMs = 150

async function openCamera(): Promise<MediaStream | 'denied' | 'none'> {
  // Without a secure context this object does not exist.
  const devices: MediaDevices | undefined = navigator.mediaDevices
  if (!devices) return 'none'
  try {
    return await devices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: 1280 } }, audio: false })
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotAllowedError' ? 'denied' : 'none'
  }
}

type Read = (video: HTMLVideoElement) => Promise<string | undefined>

interface Detector {
  detect(source: CanvasImageSource): Promise<{ rawValue: string }[]>
}

interface DetectorClass {
  new (options: { formats: string[] }): Detector
  getSupportedFormats(): Promise<string[]>
}

async function codeReader(): Promise<Read> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorClass }
  const formats = await BarcodeDetector?.getSupportedFormats().catch((): string[] => [])
  if (BarcodeDetector && formats?.includes('qr_code')) {
    const detector = new BarcodeDetector({ formats: ['qr_code'] })
    return async video => (await detector.detect(video))[0]?.rawValue
  }
  return ownReader()
}

async function ownReader(): Promise<Read> {
  const { default: decode } = await import('qr/decode.js')
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d', { willReadFrequently: true })
  return async video => {
    if (!context || video.videoWidth === 0) return undefined
    // Small enough to be fast, large enough for a code that fills a third of the picture.
    const scale = Math.min(1, 720 / Math.max(video.videoWidth, video.videoHeight))
    canvas.width = Math.round(video.videoWidth * scale)
    canvas.height = Math.round(video.videoHeight * scale)
    context.drawImage(video, 0, 0, canvas.width, canvas.height)
    return decode(context.getImageData(0, 0, canvas.width, canvas.height))
  }
}
