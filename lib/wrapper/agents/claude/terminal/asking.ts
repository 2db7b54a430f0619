import type { AgentEvent, Answers } from '../../agent.ts'
import { createOverwritten, type Overwritten } from '../transcript/overwritten.ts'
import { planOf, stepOf } from '../transcript/steps.ts'
import type { Telling } from '../transcript/telling.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Hook } from './hooks.ts'
import { createQuestions } from './questions.ts'
import { createToolUses } from './tool-uses.ts'

/** The tools that Claude Code uses at its terminal, and what it asks about them there and on the phone. */
export interface Asking {
  readonly areOpen: boolean
  /** What stood in a file that one of them writes as a whole. */
  readonly overwritten: Overwritten['read']
  begin(hook: Hook): void
  /** Resolves to what its hook answers. */
  ask(hook: Hook, gone: AbortSignal): Promise<object>
  /** `reason` is told to Claude when it is a no. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** Without answers the person would rather not say. */
  answerForm(ask: string, answers: Answers | undefined): boolean
  /** Whoever decided about it did so in the terminal: what was asked about it is closed. `input` is what it was used with in the end. */
  end(call: string | undefined, approved: boolean, input?: Record<string, unknown>): void
  endAll(): void
}

// A person waits for this one, and it may be asked before it is written down.
const questionLagMs = 1_500

export function createAsking(emit: (event: AgentEvent) => void, told: () => { telling: Telling; transcript: Transcript }): Asking {
  const questions = createQuestions(emit)
  const uses = createToolUses()
  const overwritten = createOverwritten()
  let asked = 0

  return {
    get areOpen() {
      return questions.areOpen
    },
    overwritten: overwritten.read,
    begin(hook) {
      uses.begin(hook)
      overwritten.read(hook.tool_use_id ?? '', hook.tool_name ?? '', hook.tool_input ?? {})
    },
    /** The step is on the phone with the question, after all that was said before it. */
    async ask(hook, gone) {
      const { telling, transcript } = told()
      const { tool_name: name = 'Tool', tool_input: input = {} } = hook
      const call = uses.ask(name, input)
      if (call !== undefined && !planOf(name, input)) {
        await transcript.readUntil(() => telling.step(call) !== undefined, questionLagMs)
        telling.begin(call, name, input)
      }
      const ask = call ?? `question-${++asked}`
      if (gone.aborted) return {}
      const step = telling.step(ask) ?? stepOf(ask, name, input, overwritten.read(ask, name, input))
      return questions.ask(ask, step, hook, gone)
    },
    answer: questions.answer,
    answerForm: questions.answerForm,
    end(call, approved, input) {
      if (call === undefined) return
      uses.end(call)
      questions.close(call, approved, input)
    },
    endAll() {
      questions.closeAll()
      uses.endAll()
    }
  }
}
