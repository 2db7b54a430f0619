import { randomUUID } from 'node:crypto'
import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { AgentEvent, Answers, PermissionAsk, QuestionAsk } from '../agent.ts'
import type { Elicitation } from './messages.ts'
import { type Form, readForm } from './questions.ts'

/** What an ACP agent waits to hear from a person. */
export interface Asking {
  /** Resolves to the choice, or to nothing when it is over without one. */
  permission(asked: PermissionAsk, signal: AbortSignal): Promise<string | undefined>
  question(elicitation: Elicitation, signal: AbortSignal): Promise<CreateElicitationResponse>
  /** What was chosen; undefined when nothing such waits. */
  answer(ask: string, choice: string): { call: string; isNo: boolean } | undefined
  answerQuestion(ask: string, answers: Answers | undefined): boolean
  /** The page of that question was seen to its end. */
  linkDone(id: string): void
  closeAll(): void
}

interface OpenQuestion {
  form: Form | undefined
  /** By which the agent tells that the page was seen to its end. */
  link: string | undefined
  settle(response: CreateElicitationResponse): void
}

export function createAsking(emit: (event: AgentEvent) => void): Asking {
  const permissions = new Map<string, { asked: PermissionAsk; settle(choice: string | undefined): void }>()
  const questions = new Map<string, OpenQuestion>()

  const closePermission = (ask: string) => {
    const open = permissions.get(ask)
    if (!permissions.delete(ask)) return
    open?.settle(undefined)
    emit({ type: 'permission-closed', ask })
  }

  const closeQuestion = (ask: string, response: CreateElicitationResponse = { action: 'cancel' }) => {
    const open = questions.get(ask)
    if (!questions.delete(ask)) return
    open?.settle(response)
    emit({ type: 'question-closed', ask })
  }

  return {
    permission: (asked, signal) =>
      new Promise(settle => {
        permissions.set(asked.ask, { asked, settle })
        signal.addEventListener('abort', () => closePermission(asked.ask), { once: true })
      }),

    question(elicitation, signal) {
      const form = elicitation.mode === 'form' ? readForm(elicitation) : undefined
      const about = { ask: randomUUID(), call: elicitation.toolCallId ?? undefined, title: elicitation.message }
      const asked = askOf(elicitation, form, about)
      if (!asked) {
        emit({
          type: 'notice',
          text: `The agent asked something that cannot be shown here, so it goes on without an answer: ${about.title}`
        })
        return Promise.resolve({ action: 'decline' })
      }
      return new Promise(settle => {
        const link = elicitation.mode === 'url' ? elicitation.elicitationId : undefined
        questions.set(asked.ask, { form, link, settle })
        signal.addEventListener('abort', () => closeQuestion(asked.ask), { once: true })
        emit({ type: 'question-asked', asked })
      })
    },

    answer(ask, choice) {
      const open = permissions.get(ask)
      const chosen = open?.asked.choices.find(({ id }) => id === choice)
      if (!open || !chosen) return undefined
      permissions.delete(ask)
      open.settle(choice)
      return { call: open.asked.step.call, isNo: chosen.kind.startsWith('reject') }
    },

    answerQuestion(ask, answers) {
      const open = questions.get(ask)
      if (!open) return false
      const content = answers && open.form?.content(answers)
      questions.delete(ask)
      // Declined: the agent goes on without; cancelled, it would give up what it asked for.
      open.settle(answers ? { action: 'accept', ...(content && { content }) } : { action: 'decline' })
      return true
    },

    linkDone(id) {
      for (const [ask, { link }] of questions) if (link === id) closeQuestion(ask, { action: 'accept' })
    },

    closeAll() {
      for (const ask of [...permissions.keys()]) closePermission(ask)
      for (const ask of [...questions.keys()]) closeQuestion(ask)
    }
  }
}

/** Undefined when no person can answer it here. */
function askOf(
  elicitation: Elicitation,
  form: Form | undefined,
  about: Pick<QuestionAsk, 'ask' | 'call' | 'title'>
): QuestionAsk | undefined {
  if (form) return { ...about, kind: 'form', questions: form.questions }
  if (elicitation.mode !== 'url' || !/^https?:\/\//i.test(elicitation.url)) return undefined
  return { ...about, kind: 'link', url: elicitation.url }
}
