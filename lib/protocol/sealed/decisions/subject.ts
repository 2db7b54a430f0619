import type { StepContent, StepKind } from '../messages.ts'
import type { Subject } from './risk.ts'
import { commandOf, directoryOf, kindOf, pathOf, urlOf } from './tool-args.ts'

/** The subject of an agent's request, from the request or its step. */
export interface Asked {
  readonly tool: string
  readonly kind: StepKind | undefined
  readonly args: Readonly<Record<string, unknown>>
  readonly title: string | undefined
  readonly content: readonly StepContent[]
  readonly locations: readonly string[]
}

/** Machine and devices both judge by this; `shown` is for display only. */
export function riskSubjectOf(asked: Asked, where: { folder: string | undefined; edited?: readonly string[] }): Subject {
  const { args, content } = asked
  const kind = asked.kind ?? kindOf(asked.tool)
  const changed = content.flatMap(each => (each.type === 'diff' ? [each.path] : []))
  const named = [...asked.locations, ...[pathOf(args)].filter(path => path !== undefined)].filter(path => path !== directoryOf(args))
  return {
    command: commandAsked(kind, asked),
    url: urlOf(args),
    paths: [...new Set([...changed, ...named])],
    folder: where.folder,
    directory: directoryOf(args),
    edited: where.edited ?? [],
    isWrite: kind === 'edit' || kind === 'delete' || kind === 'move',
    text: [...textsOf(args), ...content.flatMap(textsOf)].join('\n').replaceAll('\r\n', '\n')
  }
}

/** Some agents send the command as the title. */
export function commandAsked(kind: StepKind, { args, title }: Pick<Asked, 'args' | 'title'>): string | undefined {
  const command = commandOf(args)
  if (kind !== 'execute' || command !== undefined) return command
  return title === undefined || title === '' ? undefined : title.replace(/^`(.*)`$/s, '$1')
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsOf(each)])
}
