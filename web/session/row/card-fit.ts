import { isOwnQuestion, isPlan } from '../../model/decisions/answers.ts'
import type { OpenRequest } from '../../model/decisions/decisions.ts'
import type { DecisionSubject } from '../decide/subject.ts'
import type { diffFile } from '../text/diff-lines.ts'
import { fitsCard } from './size.ts'

/** Whether a card in a list can allow it: plain by the machine and this device, and shown in full. */
export function holdsWhole(request: OpenRequest, subject: DecisionSubject, diff: typeof diffFile | undefined): boolean {
  // Without the machine's statement, earlier changes of this agent are unknown.
  if (subject.risk.level !== 'plain' || request.risk?.level !== 'plain' || request.shown === undefined) return false
  if (isPlan(request) || isOwnQuestion(request)) return false
  const { command, url, diffs, paths, text, fields, directory } = subject
  const isMore = url !== undefined || directory !== undefined || text !== '' || paths.length > 0 || Object.keys(fields).length > 0
  if (isMore) return false
  if (subject.kind === 'execute')
    return request.risk.knowsEdits === true && command !== undefined && diffs.length === 0 && fitsCard(command)
  const [only] = diffs
  return subject.kind === 'edit' && command === undefined && only !== undefined && diffs.length === 1 && isSmall(only, diff)
}

function isSmall({ path, oldText, newText }: DecisionSubject['diffs'][number], diff: typeof diffFile | undefined): boolean {
  if (path.length > 120) return false
  const lines = diff?.(oldText, newText)?.hunks.flatMap(hunk => hunk.lines)
  return lines !== undefined && lines.length <= 12 && lines.every(({ text }) => text.length <= 160)
}
