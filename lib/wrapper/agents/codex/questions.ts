import { elicitation } from '../acp/messages.ts'
import { readForm } from '../acp/questions.ts'
import type { Answers, QuestionAsk } from '../agent.ts'
import { type Asked, requests } from './shapes.ts'

/** A question of Codex that is no permission, and the way back from its answers. */
export interface WaitingQuestion {
  asked: QuestionAsk
  /** What Codex gets. Throws, with a sentence for the one who answers, when an answer does not fit. */
  result(answers: Answers | undefined): unknown
}

/** Undefined for a request that asks a person nothing, or nothing that can be shown. */
export function readQuestion(method: string, params: unknown): WaitingQuestion | undefined {
  switch (method) {
    case 'item/tool/requestUserInput': {
      const { data } = requests[method].safeParse(params)
      return data && userInput(data)
    }
    case 'mcpServer/elicitation/request': {
      const { data } = requests[method].safeParse(params)
      return data && ofMcp(data)
    }
    default:
      return undefined
  }
}

function userInput({ itemId, questions }: Asked<'item/tool/requestUserInput'>): WaitingQuestion {
  const asked = questions.map(({ id, header, question, isOther, options }) => ({
    id,
    question,
    ...(header && { header }),
    multiSelect: false,
    options: (options ?? []).map(({ label, description }) => ({ value: label, label, ...(description && { description }) })),
    allowsOther: isOther || !options?.length,
    isRequired: false
  }))
  return {
    asked: { ask: itemId, call: itemId, title: questions[0]?.question ?? 'Codex asks', kind: 'form', questions: asked },
    result: answers => ({
      answers: Object.fromEntries(
        Object.entries(answers ?? {}).map(([id, { values, other }]) => [id, { answers: [...values, ...(other ? [other] : [])] }])
      )
    })
  }
}

const declined = { action: 'decline', content: null, _meta: null }

function ofMcp(params: Asked<'mcpServer/elicitation/request'>): WaitingQuestion | undefined {
  const { data } = elicitation.safeParse(params)
  if (!data) return undefined
  const about = { ask: `${params.serverName} asks`, title: data.message }
  if (data.mode === 'url') {
    return {
      asked: { ...about, kind: 'link', url: data.url },
      result: answers => (answers ? { action: 'accept', content: null, _meta: null } : declined)
    }
  }
  const form = readForm(data)
  return (
    form && {
      asked: { ...about, kind: 'form', questions: form.questions },
      result: answers => (answers ? { action: 'accept', content: form.content(answers), _meta: null } : declined)
    }
  )
}
