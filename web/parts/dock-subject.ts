import type { StepContent, StepKind } from '../../lib/protocol/sealed/messages.ts'
import type { IconName } from '../icons/icon.tsx'
import type { OpenRequest } from '../state/session-decisions.ts'
import { folderOf } from '../state/sessions.ts'
import { commandOf, contentOfArgs, kindOf, pathOf, urlOf } from '../state/transcript-steps.ts'
import { session as words } from '../words/session.ts'
import { type Risk, riskOf } from './dock-risk.ts'
import { textOf, wordsOf } from './step-words.ts'

type Diff = Extract<StepContent, { type: 'diff' }>

/** Everything a permission is decided on, in the form in which it is shown. */
export interface DecisionSubject {
  readonly kind: StepKind
  readonly icon: IconName
  readonly question: string
  /** For a list, where the question would be too much. */
  readonly heading: string
  readonly command: string | undefined
  readonly url: string | undefined
  readonly diffs: readonly Diff[]
  /** Files that are touched and have no diff. */
  readonly paths: readonly string[]
  /** A plan, or what else the agent says about it; markdown only for a plan. */
  readonly text: string
  /** Arguments that are shown nowhere else. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Where it happens when that is not the folder of the session. */
  readonly directory: string | undefined
  /** What the agent gives as its reason. */
  readonly reason: string | undefined
  readonly risk: Risk
}

export function subjectOf(request: OpenRequest, folder: string | undefined): DecisionSubject {
  const args: Readonly<Record<string, unknown>> =
    typeof request.arguments === 'object' && request.arguments !== null ? { ...request.arguments } : {}
  const kind = request.kind ?? kindOf(request.tool)
  const given = request.content ?? []
  const content = given.some(each => each.type === 'diff') ? given : [...contentOfArgs(request.tool, args), ...given]
  const diffs = content.filter(each => each.type === 'diff')
  const command = kind === 'execute' ? (commandOf(args) ?? ticked(request.title)) : commandOf(args)
  const url = urlOf(args)
  const named = [...(request.locations ?? []), ...[pathOf(args)].filter(path => path !== undefined)]
  const paths = [...new Set(named)].filter(path => !diffs.some(diff => diff.path === path) && path !== directoryOf(args))
  const text = kind === 'plan' ? planText(args, given) : textOf(content)
  const reason = reasonOf(args)
  const directory = directoryOf(args)
  const fields = leftover(args, { command, url, diffs, reason, directory, text, kind })
  const told = wordsOf(
    { kind, name: request.tool, title: request.title ?? '', description: '', args, locations: request.locations ?? [], content },
    'wants',
    folder
  )
  return {
    kind,
    icon: told.icon,
    ...namesOf({ kind, command, url, diffs, paths, tool: request.title ?? request.tool }),
    command,
    url,
    diffs,
    paths,
    text: text === command ? '' : text,
    fields,
    directory: directory === folder ? undefined : directory,
    reason,
    risk: riskOf({
      command,
      url,
      paths: [...paths, ...diffs.map(diff => diff.path)],
      folder,
      isWrite: kind === 'edit' || kind === 'delete' || kind === 'move',
      text: `${text} ${JSON.stringify(fields)} ${diffs.map(diff => diff.newText).join('\n')}`
    })
  }
}

function namesOf(of: {
  kind: StepKind
  command: string | undefined
  url: string | undefined
  diffs: readonly Diff[]
  paths: readonly string[]
  tool: string
}): { question: string; heading: string } {
  const { kind, url, diffs, paths, tool } = of
  const files = [...new Set([...diffs.map(diff => diff.path), ...paths])].filter(path => path !== '')
  const file = files[0] === undefined ? tool : folderOf(files[0])
  if (of.command !== undefined) return { question: words.ask.execute, heading: words.card.execute }
  switch (kind) {
    case 'edit': {
      const isNew = diffs.length > 0 && diffs.every(diff => diff.oldText === null)
      const question = files.length > 1 ? words.ask.editMany(files.length) : isNew ? words.ask.write(file) : words.ask.edit(file)
      return { question, heading: question.replace(/\?$/, '') }
    }
    case 'delete':
    case 'move':
    case 'read': {
      const question = words.ask[kind](file)
      return { question, heading: question.replace(/\?$/, '') }
    }
    case 'fetch': {
      const host = url !== undefined && URL.canParse(url) ? new URL(url).host : tool
      return { question: words.ask.fetch(host), heading: words.card.fetch }
    }
    case 'search':
      return { question: words.ask.search, heading: words.ask.search.replace(/\?$/, '') }
    case 'plan':
      return { question: words.ask.plan, heading: words.card.plan }
    case 'execute':
    case 'think':
    case 'other':
      return { question: words.ask.other(tool), heading: words.card.other(tool) }
  }
}

function planText(args: Readonly<Record<string, unknown>>, content: readonly StepContent[]): string {
  return typeof args['plan'] === 'string' ? args['plan'] : textOf(content)
}

function reasonOf(args: Readonly<Record<string, unknown>>): string | undefined {
  const reason = args['description'] ?? args['justification'] ?? args['reason']
  return typeof reason === 'string' && reason.trim() !== '' ? reason : undefined
}

function directoryOf(args: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of ['cwd', 'workdir', 'directory', 'working_directory']) {
    if (typeof args[name] === 'string') return args[name]
  }
  return undefined
}

function ticked(title: string | undefined): string | undefined {
  return title === undefined || title === '' ? undefined : title.replace(/^`(.*)`$/s, '$1')
}

// What is shown elsewhere is left out only when it is exactly that; anything else a call says is shown under its name.
function leftover(
  args: Readonly<Record<string, unknown>>,
  shown: {
    command: string | undefined
    url: string | undefined
    diffs: readonly Diff[]
    reason: string | undefined
    directory: string | undefined
    text: string
    kind: StepKind
  }
): Record<string, unknown> {
  const elsewhere = new Set<unknown>([shown.command, shown.url, shown.reason, shown.directory, shown.text])
  for (const { path, oldText, newText } of shown.diffs) for (const text of [path, oldText, newText]) elsewhere.add(text)
  const commandNames = shown.command === undefined ? [] : ['command', 'cmd', 'script']
  const changeNames = shown.diffs.length === 0 ? [] : ['edits', 'changes', 'content', 'diff', 'patch']
  const out: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    const isShown = elsewhere.has(value) || commandNames.includes(name) || changeNames.includes(name)
    const isNothing = value === undefined || value === null || value === '' || value === false
    if (!isShown && !isNothing) out[name] = value
  }
  return out
}
