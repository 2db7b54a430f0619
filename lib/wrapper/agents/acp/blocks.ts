import { basename } from 'node:path'
import { fromBase64, toBase64 } from '../../../crypto/bytes.ts'
import type { AgentEvent, Image } from '../agent.ts'
import { imageTypeOf, safeName } from '../attachments.ts'
import type { ContentBlock } from './messages.ts'

// A device downloads it whole to show it.
const mostPictureBytes = 8 * 1024 * 1024
const longestAddress = 2000

/** The picture that a block is; undefined for all that the app does not show as one, which `textOf` names. */
export function pictureOf(block: ContentBlock): Extract<AgentEvent, { type: 'picture' }> | undefined {
  const { data, uri, mimeType: said = '' } = bytesOf(block) ?? {}
  if (!data || sizeOf(data) > mostPictureBytes || (block.type !== 'image' && !said?.startsWith('image/'))) return undefined
  const bytes = fromBase64(data)
  const mimeType = bytes && imageTypeOf(bytes)
  if (!bytes || mimeType === undefined) return undefined
  const name = uri && !uri.startsWith('data:') ? safeName(basename(uri)) : `picture.${mimeType.slice('image/'.length)}`
  return { type: 'picture', name, mimeType, bytes }
}

/** A block of anything as text: what cannot be shown as text is named. */
export function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${[block.type, ...aboutOf(block)].join(', ')}]`
    case 'resource_link': {
      const isLong = block.uri.length > longestAddress
      return isLong ? `[${block.name ?? 'a resource'}]` : `[${block.name ?? block.uri}](${block.uri})`
    }
    case 'resource':
      return block.resource.text ?? `[${[block.resource.uri.slice(0, longestAddress), ...aboutOf(block)].join(', ')}]`
  }
}

/** What is said to an agent. */
export function blocksOf(text: string, images: readonly Image[]) {
  const shown = images.map(({ mimeType, bytes }) => ({ type: 'image' as const, mimeType, data: toBase64(bytes) }))
  return [...shown, { type: 'text' as const, text }]
}

function bytesOf(block: ContentBlock) {
  switch (block.type) {
    case 'image':
      return block
    case 'audio':
      return { ...block, uri: undefined }
    case 'resource': {
      const { blob, uri, mimeType } = block.resource
      return { data: blob, uri, mimeType }
    }
    default:
      return undefined
  }
}

function aboutOf(block: ContentBlock): string[] {
  const { data, mimeType } = bytesOf(block) ?? {}
  return [...(mimeType ? [mimeType] : []), ...(data ? [`${Math.ceil(sizeOf(data) / 1024)} kB`] : [])]
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}
