import type { ContentBlock } from '@agentclientprotocol/sdk'

/** What the demo can say of the images in a prompt: it has no eyes, but it can count. */
export function describeImages(prompt: readonly ContentBlock[]): string | undefined {
  const images = prompt.flatMap(block => (block.type === 'image' ? [describe(block.mimeType, Buffer.from(block.data, 'base64'))] : []))
  if (images.length === 0) return undefined
  return `You sent me ${images.length === 1 ? 'an image' : `${images.length} images`}: ${images.join('; ')}.`
}

function describe(mimeType: string, bytes: Buffer): string {
  const isPng = bytes.length > 24 && bytes.toString('latin1', 1, 4) === 'PNG'
  const size = isPng ? `, ${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}` : ''
  return `${mimeType}${size}, ${bytes.length} bytes`
}
