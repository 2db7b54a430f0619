import type { AgentEvent, HistoryPosition, Step } from '../../agent.ts'
import { textContent } from '../../step-content.ts'
import { beginningOf } from '../terminal/keyboard.ts'
import { type Block, type Fetched, promptOf, type Row, readRow, resultText } from './rows.ts'
import { planOf, stepOf } from './steps.ts'
import { newLines } from './transcript.ts'

/** What Claude Code recorded after a position. `handed` is the prompt being typed when its wrapper ended. */
export function readSince(place: HistoryPosition, handed: string | undefined): { events: AgentEvent[]; upTo: HistoryPosition } {
  const events: AgentEvent[] = []
  let expected = handed === undefined ? undefined : beginningOf(handed)
  const translator = createTranslator({
    emit: event => events.push(event),
    isOurs(text) {
      const isExpected = expected !== undefined && beginningOf(text) === expected
      if (isExpected) expected = undefined
      return isExpected
    }
  })
  const end = (reason: 'done' | 'cancelled') => {
    translator.cutSteps()
    events.push({ type: 'turn-ended', reason })
  }
  const { lines, next } = newLines(place)
  for (const row of lines.flatMap(line => readRow(line, 0))) {
    if (row.type === 'interrupted') end('cancelled')
    // Only the hook of a command says whether it started a turn.
    if (row.type === 'command' && beginningOf(row.text) === expected) translator.take(promptOf(row))
    if (row.type !== 'block') continue
    translator.take(row)
    if (row.isLast) end('done')
  }
  translator.cutSteps()
  return { events, upTo: next }
}

/**
 * What it recorded of a turn that was sent live. Nothing in it has a name: events were named after the turn
 * and their content. All prompts in it were written on a device, where they are shown.
 */
export function readTurn(place: HistoryPosition, handed: string | undefined): AgentEvent[] {
  return readSince(place, handed).events.flatMap(event => {
    if (event.type === 'prompted' && !event.isOurs) return []
    return 'row' in event ? [{ ...event, row: undefined }] : [event]
  })
}

type BlockRow = Extract<Row, { type: 'block' }>

export interface Translator {
  take(row: BlockRow): void
  /** A step in progress. */
  step(call: string): Step | undefined
  /** Does not wait for the row of the step. */
  begin(call: string, name: string, input: Record<string, unknown>): void
  /** The turn was cut off: running steps have no end of their own. */
  cutSteps(): void
}

/**
 * Converts the transcript to agent events. Each is named after its row, so that one sent by two processes
 * is the same. `isOurs` says whether a prompt came from us and not from the person at the terminal,
 * `blockOf` under which name a text grew before it was recorded, `overwritten` the previous content of a
 * file that a step writes.
 */
export function createTranslator({
  emit,
  isOurs,
  blockOf = () => undefined,
  overwritten = () => undefined
}: {
  emit(event: AgentEvent): void
  isOurs(text: string): boolean
  blockOf?(text: string): string | undefined
  overwritten?(call: string, name: string, input: Record<string, unknown>): string | undefined
}): Translator {
  const steps = new Map<string, Step>()

  const begin = (call: string, name: string, input: Record<string, unknown>) => {
    if (steps.has(call)) return
    const step = stepOf(call, name, input, overwritten(call, name, input))
    steps.set(call, step)
    emit({ type: 'step-started', step, row: `${call} begins` })
  }
  const end = ({ tool_use_id: call, is_error: isError, content }: Extract<Block, { type: 'tool_result' }>, fetched?: Fetched) => {
    // It may have begun before the position from which this process reads; then it was sent completely.
    const step = steps.get(call) ?? stepOf(call, '', {})
    steps.delete(call)
    const said = resultText(content)
    // Before the text, where every app shows it; ours parses it there.
    const text = fetched && step.kind === 'fetch' ? `HTTP ${fetched.code}, ${fetched.bytes} bytes\n\n${said}` : said
    const shown = text === '' ? step.content : [...step.content, textContent(text)]
    emit({ type: 'step-ended', step: { ...step, content: shown }, status: statusOf(said, isError === true), row: `${call} ends` })
  }
  const plans = new Set<string>()

  return {
    step: call => steps.get(call),
    begin,
    cutSteps() {
      for (const [call, step] of steps) emit({ type: 'step-ended', step, status: 'cancelled', row: `${call} ends` })
      steps.clear()
    },
    take({ by, uuid, index, block, fetched }) {
      const row = `${uuid} ${index}`
      switch (block.type) {
        case 'text':
          if (by === 'user') emit({ type: 'prompted', text: block.text, isOurs: isOurs(block.text), row })
          else emit({ type: 'text', block: blockOf(block.text) ?? row, text: block.text, thinking: false, row })
          return
        case 'thinking':
          if (block.thinking.trim() !== '') emit({ type: 'text', block: row, text: block.thinking, thinking: true, row })
          return
        case 'tool_use': {
          const entries = planOf(block.name, block.input)
          if (!entries) return begin(block.id, block.name, block.input)
          plans.add(block.id)
          emit({ type: 'plan', entries, row })
          return
        }
        case 'tool_result':
          if (!plans.delete(block.tool_use_id)) end(block, fetched)
          return
      }
    }
  }
}

// What Claude Code records for a tool that a person denied.
const refusal =
  /^(The user doesn't want to proceed with this tool use|The (user|person) said no, on their phone|User rejected|Permission to use)/

function statusOf(text: string, isError: boolean): 'completed' | 'failed' | 'denied' {
  if (!isError) return 'completed'
  return refusal.test(text) ? 'denied' : 'failed'
}

/** The title of a conversation: its person's, otherwise Claude Code's. Both are recorded again and again. */
export function createTitles(emit: (event: AgentEvent) => void): (row: Extract<Row, { type: 'title' }>) => void {
  let emitted = ''
  let isNamed = false
  return ({ title, byPerson }) => {
    if (isNamed && !byPerson) return
    isNamed ||= byPerson
    if (title === emitted) return
    emitted = title
    emit({ type: 'title', title })
  }
}
