import { basename } from 'node:path'
import type { StepContent, StepKind, StepStatus } from '../../../protocol/sealed/messages.ts'
import type { Step } from '../agent.ts'
import { diffsOf } from '../opencode/steps.ts'
import { diffContent, isRecord, longestDiffSide, textContent, tooLarge } from '../step-content.ts'
import type { Item } from './shapes.ts'

/** An item as a step; undefined for a message. */
export function stepOf(item: Item): Step | undefined {
  switch (item.type) {
    case 'commandExecution':
      return commandStep(item)
    case 'fileChange':
      return changeStep(item)
    case 'mcpToolCall': {
      const name = `mcp__${item.server}__${item.tool}`
      const input = isRecord(item.arguments) ? item.arguments : {}
      const output = item.error?.message ?? item.result?.content.map(({ text }) => text ?? '').join('\n') ?? ''
      return step(item.id, { name, title: `${item.server}: ${item.tool}`, kind: 'other', input, content: textOf(output) })
    }
    case 'webSearch':
      return step(item.id, { name: 'WebSearch', title: item.query || 'Search the web', kind: 'fetch', input: { query: item.query ?? '' } })
    case 'imageView':
      return step(item.id, {
        name: 'Read',
        title: `Look at ${item.path}`,
        kind: 'read',
        input: { path: item.path },
        locations: [item.path]
      })
    case 'userMessage':
    case 'agentMessage':
    case 'plan':
    case 'reasoning':
    case 'enteredReviewMode':
    case 'exitedReviewMode':
    case 'contextCompaction':
      return undefined
  }
}

/** A command with a request before anything else was reported of it. */
export function askedCommand(call: string, command: string, cwd: string | undefined): Step {
  return step(call, { name: 'Bash', title: bare(command), kind: 'execute', input: { command: bare(command), ...(cwd && { cwd }) } })
}

/** Another request. */
export function askedStep(call: string, title: string, input: Record<string, unknown>): Step {
  return step(call, { name: 'Tool', title, kind: 'other', input })
}

/** How a finished item ended. */
export function endOf(item: Item): StepStatus {
  const status = 'status' in item ? item.status : 'completed'
  switch (status) {
    case 'declined':
      return 'denied'
    case 'failed':
      return 'failed'
    case 'inProgress':
      return 'cancelled'
    default:
      return 'completed'
  }
}

function step(call: string, about: Pick<Step, 'name' | 'title' | 'kind' | 'input'> & Partial<Step>): Step {
  return { locations: [], content: [], ...about, call }
}

function commandStep(item: Extract<Item, { type: 'commandExecution' }>): Step {
  const actions = item.commandActions
  const [first] = actions
  const command = bare(item.command)
  const kind = kindOfAction[(actions.length === 1 && first?.type) || 'unknown'] ?? 'execute'
  return step(item.id, {
    name: 'Bash',
    title: command,
    kind,
    input: { command, ...(item.cwd && { cwd: item.cwd }) },
    locations: actions.flatMap(({ path }) => path ?? []),
    content: textOf(item.aggregatedOutput ?? '')
  })
}

const kindOfAction: Readonly<Record<string, StepKind>> = { read: 'read', listFiles: 'search', search: 'search' }

/** Without the shell that Codex wraps around each command. */
function bare(command: string): string {
  const wrapped = /^\S*sh -l?c (?:'(?<quoted>[\s\S]*)'|"(?<double>[^"\\$`]*)"|(?<word>[^\s'"]+))$/.exec(command)?.groups
  const { quoted, double, word } = wrapped ?? {}
  return quoted?.replaceAll(/'(?:\\'|"'")'/g, "'") ?? double ?? word ?? command
}

type Change = Extract<Item, { type: 'fileChange' }>['changes'][number]

function changeStep({ id, changes }: Extract<Item, { type: 'fileChange' }>): Step {
  const paths = changes.map(({ path }) => path)
  const all = (type: string) => changes.length > 0 && changes.every(({ kind }) => kind.type === type)
  const [name, kind, verb] = all('add')
    ? (['Write', 'edit', 'Write'] as const)
    : all('delete')
      ? (['Delete', 'delete', 'Delete'] as const)
      : (['Edit', 'edit', 'Edit'] as const)
  const [only] = changes
  const moved = changes.length === 1 && only?.kind.move_path
  return step(id, {
    name,
    kind: moved && only?.diff === '' ? 'move' : kind,
    title: moved ? `Move ${basename(only.path)} to ${basename(moved)}` : `${verb} ${paths.map(path => basename(path)).join(', ')}`,
    input: paths.length === 1 ? { file_path: paths[0] } : { file_paths: paths },
    locations: paths,
    content: changes.flatMap(contentOf)
  })
}

function contentOf({ path, kind, diff }: Change): StepContent[] {
  if (diff.length > longestDiffSide) return [tooLarge(path)]
  switch (kind.type) {
    case 'add':
      return [diffContent(path, null, diff)]
    case 'delete':
      return [diffContent(path, diff, '')]
    default:
      return diffsOf(diff, path)
  }
}

function textOf(output: string): StepContent[] {
  return output.trim() === '' ? [] : [textContent(output)]
}
