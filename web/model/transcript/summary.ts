import type { Answered, OpenRequest } from '../decisions/decisions.ts'
import type { OpenQuestion } from '../decisions/questions.ts'
import { testsSince } from './test-run.ts'
import type { Transcript } from './transcript.ts'

/** A request to a person, and its outcome. */
interface Asked {
  readonly requests: readonly OpenRequest[]
  readonly questions: readonly OpenQuestion[]
  readonly answered: readonly Answered[]
}

/**
 * Statistics of a transcript for the time after a message, up to `until`. `isWhole`: all of that time is loaded, which message numbers do not
 * show if some were skipped. `tellsFailures`: its agent reports every command with an exit code other than 0 as failed.
 */
export function summarySince(
  transcript: Pick<Transcript, 'items' | 'messages'>,
  seq: number,
  { until, hasOlder, tellsFailures = false, asked }: { until: number; hasOlder: boolean; tellsFailures?: boolean; asked?: Asked }
) {
  const files = new Set<string>()
  const count = { commands: 0, failed: 0, messages: 0 }
  const items = transcript.items.filter(item => item.at <= until)
  const began = items.find(item => item.seq > seq)
  const ofClaude: string[] = []
  for (const item of items) {
    if (item.seq <= seq) continue
    if (item.type === 'prose') count.messages++
    if (item.type !== 'step') continue
    if (item.state === 'failed') count.failed++
    if (item.kind === 'execute') count.commands++
    if (item.name === formOfClaude) ofClaude.push(item.call)
    if (changingKinds.has(item.kind)) for (const path of item.locations.length > 0 ? item.locations : [item.call]) files.add(path)
  }
  const known = transcript.messages[0]?.seq ?? 0
  return {
    ...count,
    ...(asked && began ? askedSince(asked, { since: began.at, until }, ofClaude) : { questions: ofClaude.length, decisions: 0 }),
    tests: testsSince(items, seq, tellsFailures),
    files: files.size,
    first: began?.seq,
    isWhole: !hasOlder || known <= seq + 1
  }
}

// The question tool appears as a step too, and in older versions as a permission.
const formOfClaude = 'AskUserQuestion'
const changingKinds = new Set<string>(['edit', 'write', 'delete', 'move'])

function askedSince(
  { requests, questions, answered }: Asked,
  { since, until }: { since: number; until: number },
  ofClaude: readonly string[]
) {
  const isThen = (at: number) => at >= since && at <= until
  const late = answered.filter(({ at, by, rule }) => isThen(at) && (by !== undefined || rule === undefined))
  const isForm = (tool: string) => tool === formOfClaude
  const forms = [
    ...ofClaude,
    ...questions.filter(({ createdAt }) => isThen(createdAt)).map(({ call, id }) => call ?? id),
    ...late.filter(({ said, tool }) => said !== undefined || isForm(tool)).map(({ call, id }) => call ?? id)
  ]
  const permissions = [
    ...requests.filter(({ createdAt, tool }) => isThen(createdAt) && !isForm(tool)),
    ...late.filter(({ said, tool }) => said === undefined && !isForm(tool))
  ]
  return { questions: new Set(forms).size, decisions: new Set(permissions.map(({ id }) => id)).size }
}
