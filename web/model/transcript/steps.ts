import { kindOf, pathOf } from '../../../lib/protocol/sealed/decisions/tool-args.ts'
import type { PlanEntry, StepContent } from '../../../lib/protocol/sealed/messages.ts'

export { commandOf, kindOf, pathOf, urlOf } from '../../../lib/protocol/sealed/decisions/tool-args.ts'

type Args = Readonly<Record<string, unknown>>

export function queryOf(args: Args): string | undefined {
  for (const name of ['pattern', 'query', 'regex', 'search', 'glob']) {
    if (typeof args[name] === 'string') return args[name]
  }
  return undefined
}

/** The changes that a call requests, from its arguments, for wrappers that send no diff. */
export function contentOfArgs(name: string, args: Args): StepContent[] {
  const reported = changesAmong(Array.isArray(args['items']) ? args['items'] : Object.values(args))
  if (reported.length > 0) return reported
  const path = pathOf(args) ?? ''
  if (Array.isArray(args['edits'])) return args['edits'].flatMap(edit => replacement(path, { ...edit }))
  if (typeof args['changes'] === 'object' && args['changes'] !== null) return ofChanges({ ...args['changes'] })
  if (kindOf(name) === 'edit' && typeof args['content'] === 'string') {
    // The file may have existed before: only the complete new text is known.
    return [{ type: 'diff', path, oldText: null, newText: args['content'] }]
  }
  return replacement(path, args)
}

/** The files of a call, for wrappers that forward an ACP agent's locations in the arguments. */
export function locationsOfArgs(args: Args): string[] {
  const { locations } = args
  return Array.isArray(locations) ? locations.flatMap(place => (isText(place, 'path') ? [place.path] : [])) : []
}

// Happy's wrapper sends an ACP agent's content as arguments: a list, which it names items in a step.
function changesAmong(items: readonly unknown[]): StepContent[] {
  return items.flatMap((item): StepContent[] => {
    if (!isText(item, 'path') || !isText(item, 'newText')) return []
    return [{ type: 'diff', path: item.path, oldText: isText(item, 'oldText') ? item.oldText : null, newText: item.newText }]
  })
}

function replacement(path: string, edit: Args): StepContent[] {
  const oldText = edit['old_string'] ?? edit['oldText'] ?? edit['old_text']
  const newText = edit['new_string'] ?? edit['newText'] ?? edit['new_text']
  if (typeof newText !== 'string') return []
  return [{ type: 'diff', path, oldText: typeof oldText === 'string' && oldText !== '' ? oldText : null, newText }]
}

// Codex: { path: { add: { content } } | { update: { old_content, new_content } } | { delete: { content } } }
function ofChanges(changes: Args): StepContent[] {
  return Object.entries(changes).flatMap(([path, change]): StepContent[] => {
    if (typeof change !== 'object' || change === null) return []
    const { add, update, modify, delete: removed } = change as Record<string, unknown>
    const changed: Args = { ...(typeof update === 'object' ? update : {}), ...(typeof modify === 'object' ? modify : {}) }
    if (isText(add, 'content')) return [{ type: 'diff', path, oldText: null, newText: add.content }]
    if (isText(removed, 'content')) return [{ type: 'diff', path, oldText: removed.content, newText: '' }]
    const oldText = changed['old_content']
    const newText = changed['new_content']
    if (typeof newText !== 'string') return []
    return [{ type: 'diff', path, oldText: typeof oldText === 'string' ? oldText : null, newText }]
  })
}

function isText<Name extends string>(value: unknown, name: Name): value is Record<Name, string> {
  return typeof value === 'object' && value !== null && name in value && typeof (value as Record<string, unknown>)[name] === 'string'
}

/** The plan of a to-do tool, for wrappers that send no plan of their own. */
export function planOfArgs(name: string, args: Args): PlanEntry[] | undefined {
  if (kindOf(name) !== 'plan') return undefined
  const list = args['todos'] ?? args['plan'] ?? args['entries']
  if (!Array.isArray(list)) return undefined
  const entries = list.flatMap((todo): PlanEntry[] => {
    const { content, step, status } = { ...todo } as Record<string, unknown>
    const text = content ?? step
    if (typeof text !== 'string') return []
    return [{ content: text, status: status === 'completed' || status === 'in_progress' ? status : 'pending' }]
  })
  return entries.length === 0 && list.length > 0 ? undefined : entries
}
