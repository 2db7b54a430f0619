import { type NumberWanted, type Question, readNumber } from '../../../protocol/sealed/questions.ts'
import type { Answers } from '../agent.ts'
import type { Elicitation } from './messages.ts'

type Property = Elicitation extends infer Form
  ? Form extends { requestedSchema: { properties: Record<string, infer P> } }
    ? P
    : never
  : never

/** A form of ACP as the questions it asks, and the way back from their answers. */
export interface Form {
  questions: Question[]
  /** What the agent gets. Throws, with a sentence for the one who answers, when a text is not what the form takes. */
  content(answers: Answers): Record<string, FormValue>
}

type FormValue = string | number | boolean | string[]

interface Field {
  id: string
  property: Property
  /** Takes what the person writes instead of choosing. */
  own: string | undefined
  question: Question
}

/** Undefined when it needs an answer of a kind that nobody knows here. */
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

// How the adapter of Claude Code names the field beside a question in which the person writes something else.
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
    if (value === undefined) throw new Error(`“${question}” wants ${nameOf(number)}.`)
    return value
  }
  if (typeof minLength === 'number' && text.length < minLength) throw new Error(`“${question}” wants at least ${minLength} characters.`)
  if (typeof maxLength === 'number' && text.length > maxLength) throw new Error(`“${question}” takes at most ${maxLength} characters.`)
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
