import type { AgentEvent, ToldUpTo } from '../../agent.ts'
import { beginningOf } from '../terminal/typing.ts'
import { promptOf, readRow } from './rows.ts'
import { createTelling } from './telling.ts'
import { newLines } from './transcript.ts'

/** What Claude Code wrote down from a place on. `handed` is the prompt that was being typed when its wrapper ended. */
export function readSince(place: ToldUpTo, handed: string | undefined): { events: AgentEvent[]; upTo: ToldUpTo } {
  const events: AgentEvent[] = []
  let expected = handed === undefined ? undefined : beginningOf(handed)
  const telling = createTelling({
    emit: event => events.push(event),
    isOurs(text) {
      const isExpected = expected !== undefined && beginningOf(text) === expected
      if (isExpected) expected = undefined
      return isExpected
    }
  })
  const end = (reason: 'done' | 'cancelled') => {
    telling.cutSteps()
    events.push({ type: 'turn-ended', reason })
  }
  const { lines, next } = newLines(place)
  for (const row of lines.flatMap(line => readRow(line, 0))) {
    if (row.type === 'interrupted') end('cancelled')
    // Of a command only its hook says whether it began a turn.
    if (row.type === 'command' && beginningOf(row.text) === expected) telling.take(promptOf(row))
    if (row.type !== 'block') continue
    telling.take(row)
    if (row.isLast) end('done')
  }
  telling.cutSteps()
  return { events, upTo: next }
}

/**
 * What it wrote down of a turn that was told as it came. Nothing in it has a name: what was told has been named after the turn and
 * what it says. All prompts in it were said on a device, where they are shown.
 */
export function readTurn(place: ToldUpTo, handed: string | undefined): AgentEvent[] {
  return readSince(place, handed).events.flatMap(event => {
    if (event.type === 'prompted' && !event.isOurs) return []
    return 'row' in event ? [{ ...event, row: undefined }] : [event]
  })
}
