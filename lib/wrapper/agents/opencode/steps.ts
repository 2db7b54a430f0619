import { basename } from 'node:path'
import { parsePatch, type StructuredPatch } from 'diff'
import type { PlanEntry, StepContent, StepKind } from '../../../protocol/sealed/messages.ts'
import type { Step } from '../agent.ts'
import { diffContent, isRecord, textContent } from '../step-content.ts'
import type { PermissionRequest, ToolPart } from './shapes.ts'

const kindOfTool: Readonly<Record<string, StepKind>> = {
  read: 'read',
  list: 'read',
  lsp: 'read',
  glob: 'search',
  grep: 'search',
  codesearch: 'search',
  edit: 'edit',
  write: 'edit',
  multiedit: 'edit',
  patch: 'edit',
  apply_patch: 'edit',
  bash: 'execute',
  webfetch: 'fetch',
  websearch: 'fetch',
  plan_exit: 'plan'
}

// The names for which existing apps have their own views.
const nameOfTool: Readonly<Record<string, string>> = {
  read: 'Read',
  list: 'LS',
  glob: 'Glob',
  grep: 'Grep',
  edit: 'Edit',
  write: 'Write',
  bash: 'Bash',
  webfetch: 'WebFetch',
  websearch: 'WebSearch',
  task: 'Task'
}

/** A use of one of opencode's tools as a readable step. */
export function stepOf({ callID: call, tool, state }: Pick<ToolPart, 'callID' | 'tool' | 'state'>): Step {
  const { input } = state
  const path = textIn(input, 'filePath') ?? textIn(input, 'path')
  return {
    call,
    name: nameOfTool[tool] ?? tool,
    title: titleOf(tool, input, path) ?? state.title ?? tool,
    kind: kindOfTool[tool] ?? 'other',
    input,
    locations: path === undefined ? [] : [path],
    content: [...changesOf(tool, state, path), ...outcomeOf(tool, state)]
  }
}

/** The plan in a use of the to-do tool; undefined for every other tool. */
export function planOf({ tool, state }: ToolPart): PlanEntry[] | undefined {
  if (tool !== 'todowrite') return undefined
  const { todos } = state.input
  if (!Array.isArray(todos)) return []
  return todos.flatMap((todo: unknown): PlanEntry[] => {
    if (!isRecord(todo) || typeof todo['content'] !== 'string') return []
    const { status, priority } = todo
    return [
      {
        content: todo['content'],
        // Abandoned items no longer wait.
        status: status === 'in_progress' ? status : status === 'completed' || status === 'cancelled' ? 'completed' : 'pending',
        ...(typeof priority === 'string' && { priority })
      }
    ]
  })
}

/** The step in a request: the change is known only now, and why a person is asked. */
export function askedStep(step: Step, { permission, patterns, metadata }: PermissionRequest): Step {
  const patch = textIn(metadata, 'diff')
  const diffs = patch === undefined ? [] : diffsOf(patch, patch.split('\n+++ ').length > 2 ? undefined : textIn(metadata, 'filepath'))
  const reason = reasonOf(permission, patterns)
  const content = diffs.length > 0 ? diffs : step.content
  return { ...step, content: reason === undefined ? content : [{ type: 'text', text: reason }, ...content] }
}

function reasonOf(permission: string, patterns: readonly string[]): string | undefined {
  switch (permission) {
    case 'external_directory':
      return `This reaches outside the folder of the session: ${patterns.join(', ')}`
    case 'doom_loop':
      return 'It has repeated the same step several times. Should it continue?'
    default:
      return undefined
  }
}

function titleOf(tool: string, input: Record<string, unknown>, path: string | undefined): string | undefined {
  const file = path === undefined ? undefined : basename(path)
  switch (tool) {
    case 'bash':
      return textIn(input, 'command')
    case 'read':
    case 'edit':
    case 'write':
    case 'multiedit':
      return file === undefined ? undefined : `${nameOfTool[tool] ?? 'Edit'} ${file}`
    case 'list':
      return path === undefined ? undefined : `List ${path}`
    case 'glob':
    case 'grep':
      return `Search ${textIn(input, 'pattern') ?? ''}`.trim()
    case 'webfetch':
      return `Fetch ${textIn(input, 'url') ?? ''}`.trim()
    case 'websearch':
    case 'codesearch':
      return `Search the web: ${textIn(input, 'query') ?? ''}`
    case 'task':
      return textIn(input, 'description')
    case 'question':
      return 'Ask a question'
    default:
      return undefined
  }
}

function changesOf(tool: string, { input, metadata = {} }: ToolPart['state'], path: string | undefined): StepContent[] {
  const patch = textIn(metadata, 'diff')
  if (patch !== undefined) return diffsOf(patch, path)
  if (path === undefined) return []
  const newText = textIn(input, tool === 'write' ? 'content' : 'newString')
  if (newText === undefined) return []
  return [diffContent(path, tool === 'write' ? null : (textIn(input, 'oldString') ?? null), newText)]
}

/** The result of the tool. The content of a read or written file is not repeated. */
function outcomeOf(tool: string, { status, output, error, metadata = {} }: ToolPart['state']): StepContent[] {
  const live = status === 'running' ? textIn(metadata, 'output') : undefined
  const said = error ?? (tool === 'edit' || tool === 'write' ? undefined : (output ?? live))
  return said === undefined || said.trim() === '' ? [] : [textContent(said)]
}

function textIn(input: Record<string, unknown>, name: string): string | undefined {
  const value = input[name]
  return typeof value === 'string' ? value : undefined
}

/** The hunks of a unified diff, each before and after; a new file has no before. */
export function diffsOf(patch: string, path?: string): StepContent[] {
  return filesOf(patch).flatMap(({ hunks, newFileName }) => {
    const named = path ?? newFileName
    if (named === undefined) return []
    return hunks.map(({ oldLines, oldStart, lines }) => {
      const isNew = oldLines === 0 && oldStart <= 1
      return diffContent(named, isNew ? null : sideOf(lines, '-'), sideOf(lines, '+'))
    })
  })
}

function filesOf(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch)
  } catch {
    return []
  }
}

function sideOf(lines: readonly string[], sign: '-' | '+'): string {
  let text = ''
  let last = ''
  for (const line of lines) {
    const first = line[0] ?? ''
    if (first === '\\') {
      // "No newline at end of file" refers to the line before.
      if (last === sign || last === ' ') text = text.slice(0, -1)
    } else if (first === sign || first === ' ') text += `${line.slice(1)}\n`
    last = first
  }
  return text
}
