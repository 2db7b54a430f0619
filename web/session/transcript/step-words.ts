import type { StepContent, StepKind } from '../../../lib/protocol/sealed/messages.ts'
import { exitCodeOf } from '../../model/transcript/exit-code.ts'
import { commandOf, pathOf, queryOf, urlOf } from '../../model/transcript/steps.ts'
import type { IconName } from '../../ui/icons/icon.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { duration } from '../../words/time.ts'
import { rich } from '../text/lazy-rich.ts'
import { isLong, readingOf } from '../text/parsed-text.ts'

/** The subject of a tool call, in the words of its row: a verb and an object. */
interface StepWords {
  readonly verb: string
  readonly object: string
  /** The full object, if the row shows only its end. */
  readonly whole: string
  readonly icon: IconName
}

interface Call {
  readonly kind: StepKind | 'agent'
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: Readonly<Record<string, unknown>>
  readonly locations: readonly string[]
  readonly content: readonly StepContent[]
}

type Tense = 'running' | 'done' | 'wants'

export function stepWordsOf(call: Call, tense: Tense, folder: string | undefined): StepWords {
  const { object, whole } = objectOf(call, folder)
  const kind = call.kind === 'edit' && isWrite(call) ? 'write' : call.kind
  return { verb: words.step[kind][tense], object, whole, icon: icons[call.kind] }
}

/** How it ended, for the right edge of its row. `tookMs` is undefined if unknown. */
export function resultOf(call: Call, tookMs: number | undefined): { exit: number | undefined; text: string } {
  const exit = call.kind === 'execute' ? exitCodeOf(call.content) : undefined
  const parts = [exit === undefined ? undefined : words.exit(exit), tookMs === undefined || tookMs < 1000 ? undefined : duration(tookMs)]
  return { exit, text: parts.filter(part => part !== undefined).join(lists.comma) }
}

/** Lines added and removed by all diffs of a call; undefined without a diff or if they cannot be counted. */
export function changesOf(content: readonly StepContent[]): { added: number; removed: number } | undefined {
  const diffs = content.filter(each => each.type === 'diff')
  if (diffs.length === 0) return undefined
  const reader = rich.get()
  const sum = { added: 0, removed: 0 }
  for (const { oldText, newText } of diffs) {
    const asked = { type: 'diff', oldText, newText, isFile: false } as const
    const counted = isLong(asked) ? readingOf(asked) : reader?.countChanges(oldText, newText)
    if (!counted) return undefined
    sum.added += counted.added
    sum.removed += counted.removed
  }
  return sum
}

/** A path for the row: relative to the session's folder, at most its last three parts. */
function rowPath(path: string, folder: string | undefined): string {
  const inside = insidePath(path, folder)
  const parts = inside.split(/[/\\]/)
  return parts.length <= 3 ? inside : `…/${parts.slice(-3).join('/')}`
}

/** A path relative to the session's folder, if it is inside. */
export function insidePath(path: string, folder: string | undefined): string {
  const isInside = folder !== undefined && (path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`))
  return isInside ? path.slice(folder.length + 1) : path
}

/** The part of a path inside the session's folder; undefined if it is not inside. */
export function placeOf(path: string, folder: string | undefined): string[] | undefined {
  if (folder === undefined || path === '') return undefined
  const inside = insidePath(path, folder)
  const parts = inside.split(folder.includes('\\') ? /[/\\]/ : '/')
  const isElsewhere = inside === path && /^(?:[/\\~]|[a-z]:)/i.test(path)
  return isElsewhere || parts.includes('..') ? undefined : parts
}

export function textOf(content: readonly StepContent[]): string {
  return content.flatMap(each => (each.type === 'text' ? [each.text] : [])).join('\n')
}

function objectOf(call: Call, folder: string | undefined): { object: string; whole: string } {
  switch (call.kind) {
    case 'execute': {
      const command = commandOf(call.args) ?? withoutTicks(call.title) ?? call.name
      return { object: command.split('\n')[0] ?? '', whole: command }
    }
    case 'search': {
      const query = queryOf(call.args)
      return query === undefined ? paths(call, folder) : { object: query, whole: query }
    }
    case 'fetch': {
      const url = urlOf(call.args)
      const query = queryOf(call.args)
      if (url === undefined) return { object: query ?? call.title, whole: query ?? call.title }
      return { object: URL.canParse(url) ? new URL(url).host : url, whole: url }
    }
    case 'read':
    case 'edit':
    case 'delete':
    case 'move':
      return paths(call, folder)
    case 'agent': {
      const title = call.title || call.description || call.name
      return { object: title, whole: title }
    }
    case 'plan':
    case 'think':
    case 'other': {
      const title = toolTitle(call)
      return { object: title, whole: title }
    }
  }
}

function paths(call: Call, folder: string | undefined): { object: string; whole: string } {
  const all = pathsOf(call)
  const [first] = all
  if (first === undefined) return { object: call.title || call.name, whole: call.title || call.name }
  return all.length === 1 ? { object: rowPath(first, folder), whole: first } : { object: words.files(all.length), whole: all.join('\n') }
}

/** The files of a call, each once. */
export function pathsOf({ content, locations, args }: Pick<Call, 'content' | 'locations' | 'args'>): string[] {
  const named = new Set([...content.flatMap(each => (each.type === 'diff' ? [each.path] : [])), ...locations])
  const own = pathOf(args)
  if (named.size === 0 && own !== undefined) named.add(own)
  return [...named].filter(path => path !== '')
}

// mcp__server__tool is how Claude names tools of MCP servers.
function toolTitle({ name, title }: Call): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return server === undefined ? title || name : `${server}: ${tool}`
}

function withoutTicks(title: string): string | undefined {
  return title === '' ? undefined : title.replace(/^`(.*)`$/s, '$1')
}

function isWrite({ name, content }: Call): boolean {
  return /^(write|create)/i.test(name) || (content.length > 0 && content.every(each => each.type === 'diff' && each.oldText === null))
}

const icons: Readonly<Record<Call['kind'], IconName>> = {
  read: 'file-text',
  search: 'search',
  edit: 'file-pen-line',
  delete: 'trash',
  move: 'file-pen-line',
  execute: 'square-terminal',
  fetch: 'globe',
  think: 'brain',
  plan: 'list-checks',
  agent: 'workflow',
  other: 'wrench'
}
