/** A file that a person chose, read and ready to send. */
export interface Picked {
  readonly name: string
  readonly mimeType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly image?: { readonly width: number; readonly height: number } | undefined
}

/** `no-heic`: this browser cannot convert it to an image that agents can see. */
export type Unfit = 'too-large' | 'no-heic' | 'unreadable' | 'empty'

/** The server accepts 10 MiB, and sealing adds a few bytes. */
const mostBytes = 10 * 1024 * 1024 - 64

export async function readPicked(file: File): Promise<Picked | Unfit> {
  if (file.size > mostBytes) return 'too-large'
  if (isHeic(file)) return toJpeg(file)
  try {
    const bytes = new Uint8Array(await file.arrayBuffer())
    if (bytes.length === 0) return 'empty'
    const image = await sizeOf(file)
    return { name: file.name || 'file', mimeType: file.type || 'application/octet-stream', bytes, image }
  } catch {
    // It was moved or changed after it was chosen.
    return 'unreadable'
  }
}

function isHeic({ name, type }: File): boolean {
  return /^image\/hei[cf]/.test(type) || /\.hei[cf]$/i.test(name)
}

/** Only browsers that can show such a photo can convert it. */
async function toJpeg(file: File): Promise<Picked | Unfit> {
  try {
    const bitmap = await createImageBitmap(file)
    const { width, height } = bitmap
    const canvas = new OffscreenCanvas(width, height)
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
    const jpeg = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 })
    if (jpeg.size > mostBytes) return 'too-large'
    const name = file.name.replace(/\.hei[cf]$/i, '.jpg')
    return { name, mimeType: 'image/jpeg', bytes: new Uint8Array(await jpeg.arrayBuffer()), image: { width, height } }
  } catch {
    return 'no-heic'
  }
}

async function sizeOf(file: File): Promise<Picked['image']> {
  if (!file.type.startsWith('image/')) return undefined
  try {
    const bitmap = await createImageBitmap(file)
    const { width, height } = bitmap
    bitmap.close()
    return { width, height }
  } catch {
    return undefined
  }
}
