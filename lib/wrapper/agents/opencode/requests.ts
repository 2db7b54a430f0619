import type { Grant } from '../../../protocol/sealed/decisions/grants.ts'
import type { Question } from '../../../protocol/sealed/decisions/questions.ts'
import type { PermissionChoice } from '../../../protocol/sealed/session.ts'
import type { AgentEvent, Answers, Step } from '../agent.ts'
import { lastingChoice } from '../grants.ts'
import { Refused } from './refusals.ts'
import type { PermissionRequest, QuestionRequest } from './shapes.ts'
import { askedStep, stepOf } from './steps.ts'

/** opencode's requests, on its own screen and here at once; the first answer wins. */
export interface Requests {
  permission(request: PermissionRequest, step: Step | undefined): void
  question(request: QuestionRequest): void
  /** It was answered, here or there. */
  permissionReplied(id: string, reply: string): void
  questionReplied(id: string, answers: readonly (readonly string[])[] | undefined): void
  /** The choice; undefined if no such question or choice is open. */
  answer(ask: string, choice: string, reason?: string): { call: string; isNo: boolean } | undefined
  answerQuestion(ask: string, answers: Answers | undefined): boolean
  /** Those no longer among these were answered elsewhere; `wasAllowed`: how, as far as known. */
  keepOnly(ids: ReadonlySet<string>, wasAllowed: (call: string) => boolean | undefined): void
  closeAll(): void
}

export function createRequests(deps: { emit(event: AgentEvent): void; post(path: string, body: object): Promise<unknown> }): Requests {
  const { emit } = deps
  const permissions = new Map<string, { call: string; choices: PermissionChoice[] }>()
  const questions = new Map<string, QuestionRequest>()

  const post = (path: string, body: object) => {
    deps.post(path, body).catch(error => {
      // Someone at the screen was faster, or the server is gone, which is reported elsewhere.
      if (error instanceof Refused) emit({ type: 'notice', text: 'This was just answered at the terminal, so that answer counts.' })
    })
  }
  const closePermission = (ask: string, approved?: boolean) => {
    if (permissions.delete(ask)) emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
  }
  const closeQuestion = (ask: string, answers?: Answers) => {
    if (questions.delete(ask)) emit({ type: 'question-closed', ask, ...(answers && { answers }) })
  }

  return {
    permission(request, known) {
      if (permissions.has(request.id)) return
      const tool = { callID: request.tool?.callID ?? request.id, tool: request.permission }
      const step = askedStep(known ?? stepOf({ ...tool, state: { status: 'running', input: request.metadata } }), request)
      const choices = choicesOf(request)
      permissions.set(request.id, { call: step.call, choices })
      emit({ type: 'permission-asked', asked: { ask: request.id, step, choices } })
    },
    question(request) {
      if (questions.has(request.id)) return
      questions.set(request.id, request)
      const asked = formOf(request)
      emit({
        type: 'question-asked',
        asked: { ask: request.id, call: request.tool?.callID, title: asked[0]?.question ?? 'A question', kind: 'form', questions: asked }
      })
    },
    permissionReplied: (id, reply) => closePermission(id, reply !== 'reject'),
    questionReplied(id, answers) {
      const request = questions.get(id)
      closeQuestion(id, answers && request ? readAnswers(request, answers) : undefined)
    },
    answer(ask, choice, reason) {
      const open = permissions.get(ask)
      const chosen = open?.choices.find(({ id }) => id === choice)
      if (!open || !chosen) return undefined
      permissions.delete(ask)
      const isNo = chosen.kind.startsWith('reject')
      // Without a reason it gives up; with one it continues.
      post(`/permission/${ask}/reply`, { reply: choice, ...(isNo && reason && { message: reason }) })
      return { call: open.call, isNo }
    },
    answerQuestion(ask, answers) {
      const request = questions.get(ask)
      if (!request) return false
      questions.delete(ask)
      // Rejected, it would give up; with empty answers it continues by itself.
      post(`/question/${ask}/reply`, { answers: writeAnswers(request, answers ?? {}) })
      return true
    },
    keepOnly(ids, wasAllowed) {
      for (const [ask, { call }] of [...permissions]) if (!ids.has(ask)) closePermission(ask, wasAllowed(call))
      for (const ask of [...questions.keys()]) if (!ids.has(ask)) closeQuestion(ask)
    },
    closeAll() {
      for (const ask of [...permissions.keys()]) closePermission(ask)
      for (const ask of [...questions.keys()]) closeQuestion(ask)
    }
  }
}

function choicesOf(request: PermissionRequest): PermissionChoice[] {
  return [
    { id: 'once', label: 'Allow once', kind: 'allow_once' },
    lastingChoice('always', { lasts: 'session', what: [grantOf(request)] }),
    { id: 'reject', label: 'Deny', kind: 'reject_once' }
  ]
}

/** Until opencode ends it does not ask again for what matches these patterns. */
function grantOf({ permission, always }: PermissionRequest): Grant {
  const isAll = always.length === 0 || always.includes('*')
  switch (permission) {
    case 'edit':
      return isAll ? { type: 'edits', of: [] } : { type: 'files', of: always }
    case 'bash':
      return { type: 'commands', of: isAll ? ['every command'] : always }
    case 'external_directory':
      return { type: 'folders', of: isAll ? ['every folder'] : always }
    default:
      return { type: 'tools', of: isAll ? [permission] : always.map(pattern => `${permission}(${pattern})`) }
  }
}

/** The questions have no ids: their positions identify them. */
function formOf({ questions }: QuestionRequest): Question[] {
  return questions.map(({ question, header, options, multiple, custom }, place) => ({
    id: String(place),
    question,
    ...(header && { header }),
    multiSelect: multiple ?? false,
    options: options.map(({ label, description }) => ({ value: label, label, ...(description && { description }) })),
    allowsOther: custom ?? true,
    isRequired: false
  }))
}

function writeAnswers({ questions }: QuestionRequest, answers: Answers): string[][] {
  return questions.map((_, place) => {
    const { values = [], other } = answers[String(place)] ?? {}
    const own = other?.trim()
    return own ? [...values, own] : [...values]
  })
}

function readAnswers({ questions }: QuestionRequest, answers: readonly (readonly string[])[]): Answers {
  const entries = questions.map(({ options }, place) => {
    const said = answers[place] ?? []
    const labels = new Set(options.map(({ label }) => label))
    const own = said.filter(label => !labels.has(label)).join(', ')
    return [String(place), { values: said.filter(label => labels.has(label)), ...(own && { other: own }) }]
  })
  return Object.fromEntries(entries)
}
