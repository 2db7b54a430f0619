import type { RewindPoint } from '../../../lib/protocol/sealed/calls/machine-work.ts'

/** A person's message in a session, and its time. */
export interface Said {
  readonly text: string
  readonly at: number
}

/** The message with this text that is nearest in time, since the same text may be sent twice. Files and other messages may be next to it. */
export function pointFor({ text, at }: Said, points: readonly RewindPoint[]): RewindPoint | undefined {
  const words = wordsOf(text)
  if (words === '') return undefined
  const same = points.filter(point => wordsOf(point.text) === words)
  const holding = same.length > 0 ? same : points.filter(point => wordsOf(point.text).includes(words))
  return holding.toSorted((a, b) => Math.abs(a.timestamp - at) - Math.abs(b.timestamp - at))[0]
}

function wordsOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
