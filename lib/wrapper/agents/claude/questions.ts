import type { PermissionChoice } from '../../../protocol/sealed/session.ts'
import type { AgentEvent, Step } from '../agent.ts'

/** The questions of Claude Code that are open in its terminal and on the phone at once; who answers first counts. */
export interface Questions {
  readonly areOpen: boolean
  /** Resolves to what its hook answers: a decision, or nothing when the terminal was faster. */
  ask(call: string, step: Step, suggestions: unknown[] | undefined, gone: AbortSignal): Promise<object>
  /** `reason` is told to Claude when it is a no. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** The dialog in the terminal is gone; `approved` tells what was said there. */
  close(ask: string, approved?: boolean): void
  closeAll(): void
}

interface Question {
  choices: PermissionChoice[]
  suggestions: unknown[] | undefined
  settle(reply: object): void
}

export function createQuestions(emit: (event: AgentEvent) => void): Questions {
  const open = new Map<string, Question>()

  const close = (ask: string, approved?: boolean) => {
    const question = open.get(ask)
    if (!question) return
    open.delete(ask)
    question.settle({})
    emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
  }

  return {
    get areOpen() {
      return open.size > 0
    },
    ask(call, step, suggestions, gone) {
      const choices: PermissionChoice[] = [
        { id: 'allow', label: 'Allow once', kind: 'allow_once' },
        ...(suggestions?.length ? [{ id: 'always', label: 'Allow for this session', kind: 'allow_always' as const }] : []),
        { id: 'deny', label: 'Deny', kind: 'reject_once' }
      ]
      return new Promise(resolve => {
        open.set(call, { choices, suggestions, settle: resolve })
        gone.addEventListener('abort', () => close(call), { once: true })
        emit({ type: 'permission-asked', asked: { ask: call, step, choices } })
      })
    },
    answer(ask, choice, reason) {
      const question = open.get(ask)
      if (!question?.choices.some(({ id }) => id === choice)) return false
      open.delete(ask)
      question.settle({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: decisionOf(choice, question, reason) } })
      return true
    },
    close,
    closeAll() {
      for (const ask of [...open.keys()]) close(ask)
    }
  }
}

function decisionOf(choice: string, { suggestions }: Question, reason: string | undefined): object {
  switch (choice) {
    case 'allow':
      return { behavior: 'allow' }
    case 'always':
      return { behavior: 'allow', updatedPermissions: suggestions }
    default:
      return { behavior: 'deny', message: `The person said no, on their phone${reason ? `: ${reason}` : '.'}` }
  }
}
