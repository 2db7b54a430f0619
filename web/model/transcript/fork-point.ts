import type { RewindPoint } from '../../../lib/protocol/sealed/calls/machine-work.ts'

/** What a person said in a session, and when. */
export interface Said {
  readonly text: string
  readonly at: number
}

/** Of those with its words the one nearest in time: the same may have been said twice. Files and other messages may stand beside them. */
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
