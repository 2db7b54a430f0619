import type { BusEvent, Topic } from '../../lib/bus/bus.ts'
import { referenceTo } from '../../lib/bus/reference.ts'

/** A notification has at most 7,999 bytes; this leaves room for the topic and the publisher. */
const mostNotifiedBytes = 7_000
/** Of a piece, before it is written as base64. */
const pieceBytes = 5_000
/** Larger signals are dropped, as on every bus. */
const mostSignalBytes = 64 * 1024
/** As large as the largest call. */
const mostEventBytes = 96 * 1024 * 1024

/**
 * What is sent in place of an event: itself, or its reference, whole or in pieces. A notification that is too large would be
 * refused, and calls and answers are nowhere else.
 */
export function contentsOf(event: BusEvent): string[] | 'too large' {
  const whole = JSON.stringify(event)
  if (bytesOf(whole) <= mostNotifiedBytes) return [`=${whole}`]
  const reference = referenceTo(event)
  const content = reference ? JSON.stringify(reference) : whole
  const bytes = Buffer.from(content)
  if (bytes.length <= mostNotifiedBytes) return [`=${content}`]
  if (event.type === 'signal' && bytes.length > mostSignalBytes) return []
  return bytes.length <= mostEventBytes ? piecesOf(bytes) : 'too large'
}

function piecesOf(bytes: Buffer): string[] {
  const count = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: count }, (_, index) => {
    const piece = bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
    return `+${index}/${count} ${piece.toString('base64')}`
  })
}

export interface Notification {
  publisher: string
  topic: Topic
  content: string
}

/** `number` differs for each: of equal notifications in one transaction, PostgreSQL would deliver one. */
export function payloadOf({ publisher, topic, content }: Notification, number: number): string {
  return `${publisher} ${number} ${encodeURIComponent(topic)} ${content}`
}

export function readPayload(payload: string): Notification | undefined {
  const [, publisher, topic, content] = /^(\S+) \d+ (\S*) (.*)$/s.exec(payload) ?? []
  if (publisher === undefined || topic === undefined || content === undefined) return undefined
  return { publisher, topic: decodeURIComponent(topic) as Topic, content }
}

/** Puts pieces together; those of one publisher follow each other. */
export class Pieces {
  readonly #begun = new Map<string, { topic: Topic; count: number; pieces: string[] }>()

  /** The whole content with its last piece. One whose beginning was not heard is left out: it was published before. */
  add({ publisher, topic, content }: Notification): string | undefined {
    const [, at, of, piece = ''] = /^\+(\d+)\/(\d+) (.*)$/s.exec(content) ?? []
    const [index, count] = [Number(at), Number(of)]
    if (index === 0) this.#begun.set(publisher, { topic, count, pieces: [] })
    const begun = this.#begun.get(publisher)
    if (!begun || begun.topic !== topic || begun.count !== count || begun.pieces.length !== index) {
      this.#begun.delete(publisher)
      return undefined
    }
    begun.pieces.push(piece)
    if (begun.pieces.length < count) return undefined
    this.#begun.delete(publisher)
    return Buffer.concat(begun.pieces.map(each => Buffer.from(each, 'base64'))).toString()
  }

  clear(): void {
    this.#begun.clear()
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}
