import { questionTool, readQuestions } from '../../../lib/protocol/sealed/decisions/ask-user-question.ts'
import type { Question } from '../../../lib/protocol/sealed/decisions/questions.ts'
import type { CompletedRequest, PermissionRequest } from '../../../lib/protocol/sealed/session.ts'

/** What an agent wants to know, as its request says it. */
export type AskedQuestion =
  | { readonly type: 'form'; readonly questions: readonly Question[] }
  | { readonly type: 'link'; readonly url: string }

/** Undefined for a permission. One that comes with choices is of an older wrapper of ours, and takes none but these. */
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

/** What Happy's CLI was answered it does not tell: that it was reads as any yes. */
export function isAnsweredQuestion({ tool, status, answers, reason }: CompletedRequest): boolean {
  return tool === questionTool && (answers !== undefined || (status !== 'approved' && reason == null))
}
