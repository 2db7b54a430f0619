import type { Transcript } from './transcript.ts'

/**
 * What a transcript tells of the time after a message, in numbers. `isWhole`: it knows all of that time, which the numbers of messages do not
 * tell when some were left out.
 */
export function happenedSince(transcript: Pick<Transcript, 'items' | 'messages'>, seq: number, hasOlder: boolean) {
  const files = new Set<string>()
  const count = { commands: 0, failed: 0, questions: 0, messages: 0 }
  let first: number | undefined
  for (const item of transcript.items) {
    if (item.seq <= seq) continue
    first ??= item.seq
    if (item.type === 'prose') count.messages++
    if (item.type !== 'step') continue
    if (item.state === 'failed') count.failed++
    if (item.kind === 'execute') count.commands++
    if (item.name === 'AskUserQuestion') count.questions++
    if (changingKinds.has(item.kind)) for (const path of item.locations.length > 0 ? item.locations : [item.call]) files.add(path)
  }
  const known = transcript.messages[0]?.seq ?? 0
  return { ...count, files: files.size, first, isWhole: !hasOlder || known <= seq + 1 }
}

const changingKinds = new Set<string>(['edit', 'write', 'delete', 'move'])
