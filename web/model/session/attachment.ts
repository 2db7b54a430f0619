import type { SessionEvent } from '../../../lib/protocol/sealed/messages.ts'

/** An attachment of a message: uploaded, and identified by its ref. */
export interface Attached {
  readonly ref: string
  readonly name: string
  readonly size: number
  /** The seal that identifies its bytes. */
  readonly seal?: string | undefined
  readonly mimeType?: string | undefined
  readonly image?: { readonly width: number; readonly height: number } | undefined
}

type FileEvent = Extract<SessionEvent, { t: 'file' }>

export function attachedOf({ ref, name, size, seal, mimeType, image }: FileEvent): Attached {
  return {
    ref,
    name,
    size,
    ...(seal !== undefined && { seal }),
    ...(mimeType !== undefined && { mimeType }),
    ...(image && { image: { width: image.width, height: image.height } })
  }
}

/** As a message announces it, before its text. */
export function fileEvent({ ref, name, size, seal, mimeType, image }: Attached): FileEvent {
  return {
    t: 'file',
    ref,
    name,
    size,
    ...(seal !== undefined && { seal }),
    ...(mimeType !== undefined && { mimeType }),
    ...(image && { image: { ...image } })
  }
}

/** The file types that this page may show: an SVG could contain a page of its own. */
export function isPicture({ mimeType = '' }: Pick<Attached, 'mimeType'>): boolean {
  return ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].includes(mimeType)
}
