import { readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import type { PlanEntry, StepContent, StepKind } from '../../../../protocol/sealed/messages.ts'
import type { Step } from '../../agent.ts'
import { diffContent, isRecord, longestDiffSide } from '../../step-content.ts'

const kindOfTool: Readonly<Record<string, StepKind>> = {
  Read: 'read',
  NotebookRead: 'read',
  Glob: 'search',
  Grep: 'search',
  LS: 'search',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  BashOutput: 'execute',
  KillShell: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  ExitPlanMode: 'plan'
}

/**
 * A use of one of Claude Code's own tools as a readable step; `overwritten` is the previous content of the
 * file that it writes.
 */
export function stepOf(call: string, name: string, input: Record<string, unknown>, overwritten: string | undefined = undefined): Step {
  const path = textIn(input, 'file_path') ?? textIn(input, 'notebook_path') ?? textIn(input, 'path')
  return {
    call,
    name,
    title: titleOf(name, input, path),
    kind: kindOfTool[name] ?? 'other',
    input,
    locations: path === undefined ? [] : [path],
    content: contentOf(name, input, path, overwritten)
  }
}

/** The plan in a use of the to-do tool; undefined for every other tool. */
export function planOf(name: string, input: Record<string, unknown>): PlanEntry[] | undefined {
  const { todos } = input
  if (name !== 'TodoWrite' || !Array.isArray(todos)) return undefined
  return todos.flatMap((todo: unknown): PlanEntry[] => {
    if (!isRecord(todo) || typeof todo['content'] !== 'string') return []
    const { content, status } = todo
    return [{ content, status: status === 'in_progress' || status === 'completed' ? status : 'pending' }]
  })
}

function titleOf(name: string, input: Record<string, unknown>, path: string | undefined): string {
  const file = path === undefined ? undefined : basename(path)
  switch (name) {
    case 'Bash':
      return textIn(input, 'command') ?? 'Run a command'
    case 'Read':
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
      return file === undefined ? name : `${name} ${file}`
    case 'Glob':
    case 'Grep':
      return `Search ${textIn(input, 'pattern') ?? ''}`.trim()
    case 'WebFetch':
      return `Fetch ${textIn(input, 'url') ?? ''}`.trim()
    case 'WebSearch':
      return `Search the web: ${textIn(input, 'query') ?? ''}`
    case 'Task':
    case 'Agent':
      return textIn(input, 'description') ?? 'Hand a task to a subagent'
    case 'ExitPlanMode':
      return 'Ready to code?'
    default:
      return name.replace(/^mcp__([^_]+(?:_[^_]+)*)__/, '$1: ')
  }
}

function contentOf(name: string, input: Record<string, unknown>, path: string | undefined, overwritten?: string): StepContent[] {
  if (path === undefined) {
    const plan = name === 'ExitPlanMode' ? textIn(input, 'plan') : undefined
    return plan === undefined ? [] : [{ type: 'text', text: plan }]
  }
  switch (name) {
    case 'Write':
      return diff(path, overwritten ?? null, textIn(input, 'content'))
    case 'Edit':
      return diff(path, textIn(input, 'old_string') ?? null, textIn(input, 'new_string'))
    case 'MultiEdit':
      return Array.isArray(input['edits']) ? input['edits'].flatMap(edit => (isRecord(edit) ? contentOf('Edit', edit, path) : [])) : []
    default:
      return []
  }
}

function diff(path: string, oldText: string | null, newText: string | undefined): StepContent[] {
  return newText === undefined ? [] : [diffContent(path, oldText, newText)]
}

function textIn(input: Record<string, unknown>, name: string): string | undefined {
  const value = input[name]
  return typeof value === 'string' ? value : undefined
}

/** The previous content of files that Claude Code overwrites, read before it does. */
export interface Overwritten {
  /** Undefined if there was no file, if it cannot be shown, and for other tools. */
  read(call: string, tool: string, input: Record<string, unknown>): string | undefined
}

const mostKept = 20

/** To be called when a use is announced, before it is executed: later it returns what it knew then. */
export function createOverwritten(): Overwritten {
  const known = new Map<string, string | undefined>()
  return {
    read(call, tool, input) {
      if (tool !== 'Write') return undefined
      if (!known.has(call)) known.set(call, textOf(input['file_path'], input['content']))
      const [oldest] = known.keys()
      if (known.size > mostKept && oldest !== undefined) known.delete(oldest)
      return known.get(call)
    }
  }
}

function textOf(path: unknown, content: unknown): string | undefined {
  if (typeof path !== 'string' || !isAbsolute(path)) return undefined
  try {
    const stats = statSync(path)
    if (!stats.isFile() || stats.size > longestDiffSide) return undefined
    const text = readFileSync(path, 'utf8')
    // The same: it was called too late.
    return text === content || text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
