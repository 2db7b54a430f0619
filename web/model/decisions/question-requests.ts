import { questionTool, readQuestions } from '../../../lib/protocol/sealed/decisions/ask-user-question.ts'
import type { Question } from '../../../lib/protocol/sealed/decisions/questions.ts'
import type { CompletedRequest, PermissionRequest } from '../../../lib/protocol/sealed/session.ts'

/** A question of an agent, from its request. */
export type AskedQuestion =
  | { readonly type: 'form'; readonly questions: readonly Question[] }
  | { readonly type: 'link'; readonly url: string }

/** Undefined for a permission. A request with choices comes from an older wrapper of ours, and accepts only these. */
export function questionIn({ tool, arguments: args, choices, form, url }: PermissionRequest): AskedQuestion | undefined {
  if (tool !== questionTool || choices !== undefined) return undefined
  const written = formOrLink(form, url)
  if (written) return written
  const questions = readQuestions(args)
  return questions && { type: 'form', questions }
}

function formOrLink(form: { questions: readonly Question[] } | undefined, url: string | undefined): AskedQuestion | undefined {
  if (form !== undefined && form.questions.length > 0) return { type: 'form', questions: form.questions }
  return url === undefined ? undefined : { type: 'link', url }
}

/** Happy's CLI does not report the answers: that it was answered looks like any approval. */
export function isAnsweredQuestion({ tool, status, answers, reason }: CompletedRequest): boolean {
  return tool === questionTool && (answers !== undefined || (status !== 'approved' && reason == null))
}
