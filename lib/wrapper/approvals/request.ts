import type { RuleSubject } from '../../protocol/sealed/decisions/rules.ts'
import type { Asked } from '../../protocol/sealed/decisions/subject.ts'
import { commandAsked } from '../../protocol/sealed/decisions/subject.ts'
import { commandOf, directoryOf, kindOf, pathOf, urlOf } from '../../protocol/sealed/decisions/tool-args.ts'

/** A request, as far as rules need it. */
export interface Request {
  readonly on: RuleSubject
  readonly tool: string
  readonly command: string | undefined
  readonly url: string | undefined
  readonly paths: readonly string[]
  /** Of the session. */
  readonly folder: string
  readonly directory: string | undefined
  /** Contains something that no pattern checks. */
  readonly isOdd: boolean
}

export function requestOf(asked: Asked, folder: string): Request {
  const { tool, args, content, locations } = asked
  const kind = asked.kind ?? kindOf(tool)
  const directory = directoryOf(args)
  const changed = content.flatMap(each => (each.type === 'diff' ? [each.path] : []))
  const named = [...locations, ...[pathOf(args)].filter(path => path !== undefined)].filter(path => path !== directory)
  const request = { tool, url: urlOf(args), paths: [...new Set([...changed, ...named])], folder, directory }
  switch (kind) {
    case 'execute':
      return { ...request, on: 'command', command: commandAsked(kind, asked), isOdd: commandOf(args) === undefined || hasMore(args) }
    case 'edit':
      return { ...request, on: 'change', command: undefined, isOdd: false }
    case 'read':
      return { ...request, on: 'read', command: undefined, isOdd: false }
    case 'fetch':
      return { ...request, on: request.url === undefined ? 'tool' : 'page', command: undefined, isOdd: false }
    case 'search':
    case 'think':
    case 'other':
      return { ...request, on: 'tool', command: undefined, isOdd: false }
    // Each of these needs a person.
    case 'delete':
    case 'move':
    case 'plan':
      return { ...request, on: kind === 'plan' ? 'tool' : 'change', command: undefined, isOdd: true }
  }
}

/** For the log and for lists. */
export function whatOf({ command, url, paths, tool }: Request): string {
  return command ?? url ?? (paths.length > 0 ? paths.join(' ') : tool)
}

// Other arguments of a command that change neither what is run nor where. Any others, such as leaving a
// sandbox, need a person.
const harmless = new Set([
  'description',
  'justification',
  'reason',
  'timeout',
  'timeout_ms',
  'yield_time_ms',
  'max_output_tokens',
  'run_in_background',
  'cwd',
  'workdir',
  'directory',
  'working_directory'
])

function hasMore(args: Readonly<Record<string, unknown>>): boolean {
  const names = Object.entries(args).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' || value === false ? [] : [name]
  )
  const commands = names.filter(name => ['command', 'cmd', 'script'].includes(name))
  return commands.length !== 1 || names.some(name => !harmless.has(name) && !commands.includes(name))
}
