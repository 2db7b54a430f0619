import { randomUUID } from 'node:crypto'
import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import { type NumberWanted, type Question, readNumber } from '../../../protocol/sealed/decisions/questions.ts'
import type { AgentEvent, Answers, PermissionAsk, QuestionAsk } from '../agent.ts'
import type { Elicitation } from './messages.ts'

/** What an ACP agent asks a person. */
interface Requests {
  /** Resolves to the choice, or to nothing if it ends without one. */
  permission(asked: PermissionAsk, signal: AbortSignal): Promise<string | undefined>
  question(elicitation: Elicitation, signal: AbortSignal): Promise<CreateElicitationResponse>
  /** The choice; undefined if no such request is open. */
  answer(ask: string, choice: string): { call: string; isNo: boolean } | undefined
  answerQuestion(ask: string, answers: Answers | undefined): boolean
  /** The page of that question was completed. */
  linkDone(id: string): void
  closeAll(): void
}

interface OpenQuestion {
  form: Form | undefined
  /** With which the agent reports that the page was completed. */
  link: string | undefined
  settle(response: CreateElicitationResponse): void
}

export function createRequests(emit: (event: AgentEvent) => void): Requests {
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
          text: `The agent asked something that cannot be shown here, so it continues without an answer: ${about.title}`
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
      // Declined: the agent continues without it; cancelled, it would abandon the request.
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

/** Undefined if no person can answer it here. */
function askOf(
  elicitation: Elicitation,
  form: Form | undefined,
  about: Pick<QuestionAsk, 'ask' | 'call' | 'title'>
): QuestionAsk | undefined {
  if (form) return { ...about, kind: 'form', questions: form.questions }
  if (elicitation.mode !== 'url' || !isWebAddress(elicitation.url)) return undefined
  return { ...about, kind: 'link', url: elicitation.url }
}

/** No other link is offered to a person. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

type Property = Elicitation extends infer Form
  ? Form extends { requestedSchema: { properties: Record<string, infer P> } }
    ? P
    : never
  : never

/** An ACP form as its questions, and the conversion of their answers. */
interface Form {
  questions: Question[]
  /** What the agent gets. Throws, with a sentence for the person answering, if a text is not valid for the form. */
  content(answers: Answers): Record<string, FormValue>
}

type FormValue = string | number | boolean | string[]

interface Field {
  id: string
  property: Property
  /** Holds what the person writes instead of choosing. */
  own: string | undefined
  question: Question
}

/** Undefined if it needs an answer of an unknown kind. */
export function readForm({ message, requestedSchema }: Extract<Elicitation, { mode: 'form' }>): Form | undefined {
  const required = new Set(requestedSchema.required ?? [])
  const all = Object.entries(requestedSchema.properties)
  const known = all.filter(([, property]) => knownTypes.has(property.type))
  if (all.some(([id, property]) => !knownTypes.has(property.type) && required.has(id))) return undefined
  const names = new Set(known.map(([id]) => id))
  const asked = known.filter(([id]) => !isOwnTextOf(id, names))
  const fields = asked.map(([id, property]): Field => {
    const own = names.has(`${id}${ownText}`) ? `${id}${ownText}` : undefined
    const options = optionsOf(property)
    const text = property.description || (asked.length === 1 ? message : property.title || id)
    const number = numberOf(property)
    const question = {
      id,
      question: text,
      ...(property.title && property.title !== text && { header: property.title }),
      multiSelect: property.type === 'array',
      options,
      allowsOther: options.length === 0 || own !== undefined,
      isRequired: required.has(id),
      ...(number && { number })
    }
    return { id, property, own, question }
  })
  if (fields.length === 0) return undefined
  return {
    questions: fields.map(({ question }) => question),
    content: answers => Object.assign({}, ...fields.map(field => valuesOf(field, answers[field.id])))
  }
}

const knownTypes = new Set(['string', 'number', 'integer', 'boolean', 'array'])

// How Claude Code's adapter names the field next to a question for a free answer.
const ownText = '_custom'

function isOwnTextOf(id: string, names: ReadonlySet<string>): boolean {
  return id.endsWith(ownText) && names.has(id.slice(0, -ownText.length))
}

function optionsOf({ type, oneOf, enum: values, items }: Property): Question['options'] {
  if (type === 'boolean') {
    return [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' }
    ]
  }
  const titled = oneOf ?? items?.anyOf
  if (titled) {
    return titled.map(({ const: value, title, description }) => ({ value, label: title ?? value, ...(description && { description }) }))
  }
  return (values ?? items?.enum ?? []).map(value => ({ value, label: value }))
}

function valuesOf({ id, property, own, question }: Field, answer: Answers[string] | undefined): Record<string, FormValue> {
  const text = answer?.other?.trim()
  const values = answer?.values ?? []
  if (question.options.length === 0) return text ? { [id]: readText(text, property, question.question) } : {}
  const chosen =
    property.type === 'array' && answer ? { [id]: values } : values[0] === undefined ? {} : { [id]: readChoice(values[0], property) }
  return { ...chosen, ...(text && own !== undefined && { [own]: text }) }
}

function readChoice(value: string, { type }: Property): FormValue {
  return type === 'boolean' ? value === 'true' : value
}

function readText(text: string, property: Property, question: string): FormValue {
  const { type, minLength, maxLength } = property
  const number = numberOf(property)
  if (number) {
    const value = readNumber(text, number)
    if (value === undefined) throw new Error(`“${question}” needs ${nameOf(number)}.`)
    return value
  }
  if (typeof minLength === 'number' && text.length < minLength) throw new Error(`“${question}” needs at least ${minLength} characters.`)
  if (typeof maxLength === 'number' && text.length > maxLength) throw new Error(`“${question}” allows at most ${maxLength} characters.`)
  return type === 'array' ? [text] : text
}

function numberOf({ type, minimum, maximum }: Property): NumberWanted | undefined {
  if (type !== 'number' && type !== 'integer') return undefined
  return {
    isWhole: type === 'integer',
    ...(typeof minimum === 'number' && { minimum }),
    ...(typeof maximum === 'number' && { maximum })
  }
}

function nameOf({ isWhole, minimum, maximum }: NumberWanted): string {
  const limits = [minimum !== undefined && `at least ${minimum}`, maximum !== undefined && `at most ${maximum}`].filter(
    limit => limit !== false
  )
  return [isWhole ? 'a whole number' : 'a number', limits.join(' and ')].filter(part => part !== '').join(', ')
}
