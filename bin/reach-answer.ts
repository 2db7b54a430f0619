import { join } from 'node:path'
import * as v from '../lib/schema.ts'
import { readPrivateFile, writePrivateFile } from '../lib/wrapper/home/private-files.ts'

const answer = v.object({
  /** The options of the way that was taken, by their flags. A tunnel is taken for one start only. */
  taken: v.optional(v.object({ https: v.optional(v.picklist(['auto'])), 'public-url': v.optional(v.string()) })),
  /** The offers that were declined: a new one is made once. */
  declined: v.array(v.string())
})

/** What a person answered when a start without options offered ways for phones to reach the server. */
export type ReachAnswer = v.InferOutput<typeof answer>

/** In the data directory, because it is about this server. */
export function answerFile(data: string): string {
  return join(data, 'reach.json')
}

/** A missing or damaged file is no answer, and the question is asked again. */
export function readAnswer(data: string): ReachAnswer {
  try {
    return v.parse(answer, JSON.parse(readPrivateFile(answerFile(data)) ?? '{"declined":[]}'))
  } catch {
    return { declined: [] }
  }
}

export function saveAnswer(data: string, given: ReachAnswer): void {
  writePrivateFile(answerFile(data), `${JSON.stringify(given)}\n`)
}
