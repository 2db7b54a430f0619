import type { BusEvent } from '../lib/bus/bus.ts'
import { busEvent } from '../lib/bus/events.ts'
import { referenceTo } from '../lib/bus/reference.ts'
import * as v from '../lib/schema.ts'

/**
 * What Redis sends to subscribers waits in its memory until they read it, and ends their connection at 32 MiB. So no frame is
 * large, whatever an account stores or calls.
 */
export const mostFrameBytes = 64 * 1024
/** Of an event that is a value of its own: as large as the largest call. */
const mostParcelBytes = 96 * 1024 * 1024

export interface Frame {
  content: string
  bytes: number
  /** Too large to be published: stored as a value, which subscribers fetch. */
  isParcel: boolean
}

/**
 * An event as other instances get it: by reference if it is large. Large signals are dropped, since the next one or what is
 * stored follows. Calls and answers are nowhere else, so they become parcels.
 */
export function frameOf(event: BusEvent): Frame | 'dropped' | 'too large' {
  const whole = framed(event)
  if (whole.bytes <= mostFrameBytes) return whole
  if (event.type === 'signal') return 'dropped'
  if (event.type !== 'change') return whole.bytes <= mostParcelBytes ? { ...whole, isParcel: true } : 'too large'
  const reference = referenceTo(event)
  const small = reference && framed(reference)
  return small && small.bytes <= mostFrameBytes ? small : 'too large'
}

/** The event, or why it cannot be read, without its content. */
export function readFrame(content: string): BusEvent | Error {
  let json: unknown
  try {
    json = JSON.parse(content)
  } catch {
    return new Error('What came on the bus is no JSON; it was dropped.')
  }
  const { data, problem } = v.safeParse(busEvent, json)
  return (
    data ??
    new Error(`An event on the bus could not be read and was dropped: ${['event', ...(problem?.path ?? [])].join('.')} ${problem?.message}`)
  )
}

function framed(event: BusEvent): Frame {
  const content = JSON.stringify(event)
  return { content, bytes: Buffer.byteLength(content), isParcel: false }
}
