import { questionTool, readAnswers, readQuestions, writeAnswers } from '../../../../protocol/sealed/ask-user-question.ts'
import type { Question } from '../../../../protocol/sealed/questions.ts'
import type { PermissionChoice } from '../../../../protocol/sealed/session.ts'
import type { AgentEvent, Answers, Step } from '../../agent.ts'
import { lastingYes } from '../../lasting-yes.ts'
import type { Hook } from './hooks.ts'
import { grantsOf } from './suggestions.ts'

/** The dialogs of Claude Code that are open in its terminal and on the phone at once; who answers first counts. */
export interface Questions {
  readonly areOpen: boolean
  /** Resolves to what its hook answers: a decision, or nothing when the terminal was faster. */
  ask(ask: string, step: Step, hook: Pick<Hook, 'permission_suggestions' | 'tool_input'>, gone: AbortSignal): Promise<object>
  /** `reason` is told to Claude when it is a no. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** Without answers the person would rather not say. */
  answerForm(ask: string, answers: Answers | undefined): boolean
  /** The dialog in the terminal is gone; `approved` and `input` tell what was said there. */
  close(ask: string, approved?: boolean, input?: Record<string, unknown>): void
  closeAll(): void
}

type Open = { settle(decision: Decision | undefined): void } & (
  | { type: 'permission'; ways: readonly Way[] }
  | { type: 'form'; form: readonly Question[]; input: Record<string, unknown> }
)

/** A choice, and what Claude Code hears of it. */
interface Way {
  choice: PermissionChoice
  decision(reason: string | undefined): Decision
}

type Decision = { behavior: 'allow'; updatedInput?: object; updatedPermissions?: unknown[] } | { behavior: 'deny'; message: string }

export function createQuestions(emit: (event: AgentEvent) => void): Questions {
  const open = new Map<string, Open>()

  const take = (ask: string): Open | undefined => {
    const question = open.get(ask)
    open.delete(ask)
    return question
  }
  const close = (ask: string, approved?: boolean, input?: Record<string, unknown>) => {
    const question = take(ask)
    if (!question) return
    question.settle(undefined)
    if (question.type === 'permission') emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
    else emit({ type: 'question-closed', ask, ...(approved && saidThere(question.form, input)) })
  }

  return {
    get areOpen() {
      return open.size > 0
    },
    ask(ask, step, hook, gone) {
      const form = step.name === questionTool ? readQuestions(step.input) : undefined
      const ways = form ? [] : waysOf(step, hook)
      return new Promise(resolve => {
        const settle = (decision: Decision | undefined) =>
          resolve(decision ? { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } } : {})
        open.set(ask, form ? { type: 'form', form, input: hook.tool_input ?? step.input, settle } : { type: 'permission', ways, settle })
        gone.addEventListener('abort', () => close(ask), { once: true })
        if (form)
          emit({ type: 'question-asked', asked: { ask, call: step.call, title: form[0]?.question ?? '', kind: 'form', questions: form } })
        else emit({ type: 'permission-asked', asked: { ask, step, choices: ways.map(({ choice }) => choice) } })
      })
    },
    answer(ask, choice, reason) {
      const question = open.get(ask)
      const way = question?.type === 'permission' ? question.ways.find(way => way.choice.id === choice) : undefined
      if (!way) return false
      take(ask)?.settle(way.decision(reason))
      return true
    },
    answerForm(ask, answers) {
      const question = open.get(ask)
      if (question?.type !== 'form') return false
      const said = writeAnswers(question.form, answers ?? {})
      const isAnswer = Object.keys(said).length > 0
      const updatedInput = { ...question.input, answers: said }
      take(ask)?.settle(isAnswer ? { behavior: 'allow', updatedInput } : { behavior: 'deny', message: unanswered })
      return true
    },
    close,
    closeAll() {
      for (const ask of [...open.keys()]) close(ask)
    }
  }
}

const unanswered = 'The person said no, on their phone: they would rather not answer. Go on without it.'

function saidThere(form: readonly Question[], input: Record<string, unknown> | undefined): { answers?: Answers } {
  const answers = readAnswers(form, input)
  return typeof answers === 'string' ? {} : { answers }
}

function waysOf(step: Step, { permission_suggestions: suggestions, tool_input: input }: Parameters<Questions['ask']>[2]): Way[] {
  if (step.name === 'ExitPlanMode') return planWays(input ?? step.input)
  const granted = grantsOf(suggestions)
  return [
    { choice: { id: 'allow', label: 'Allow once', kind: 'allow_once' }, decision: () => ({ behavior: 'allow' }) },
    ...(granted ? [{ choice: lastingYes('always', granted), decision: () => allowing(suggestions) }] : []),
    { choice: { id: 'deny', label: 'Deny', kind: 'reject_once' }, decision: reason => no('', reason) }
  ]
}

function allowing(suggestions: unknown[] = []): Decision {
  return { behavior: 'allow', updatedPermissions: suggestions }
}

/**
 * What a plan is started with is the mode that comes after it. Claude Code leaves its dialog open at a yes without the input: to
 * a plan and to its questions only a person is to answer.
 */
function planWays(input: Record<string, unknown>): Way[] {
  const into = (mode: string): Decision => ({
    behavior: 'allow',
    updatedInput: input,
    updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }]
  })
  return [
    { choice: { id: 'acceptEdits', label: 'Yes, and edit freely', kind: 'allow_always' }, decision: () => into('acceptEdits') },
    { choice: { id: 'default', label: 'Yes, and ask before edits', kind: 'allow_once' }, decision: () => into('default') },
    {
      choice: { id: 'deny', label: 'No, keep planning', kind: 'reject_once' },
      decision: reason => no(' to this plan. Keep planning', reason)
    }
  ]
}

function no(more: string, reason: string | undefined): Decision {
  return { behavior: 'deny', message: `The person said no, on their phone${more}${reason ? `: ${reason}` : '.'}` }
}
