import { higher, type Risk, riskName, riskOf } from '../../../lib/protocol/sealed/decisions/risk.ts'
import { commandAsked, riskSubjectOf } from '../../../lib/protocol/sealed/decisions/subject.ts'
import { directoryOf } from '../../../lib/protocol/sealed/decisions/tool-args.ts'
import type { StepContent, StepKind } from '../../../lib/protocol/sealed/messages.ts'
import type { OpenRequest } from '../../model/decisions/decisions.ts'
import { folderName } from '../../model/sessions.ts'
import { commandOf, contentOfArgs, kindOf, pathOf, urlOf } from '../../model/transcript/steps.ts'
import type { IconName } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { session as words } from '../../words/session.ts'
import { stepWordsOf, textOf } from '../transcript/step-words.ts'

type Diff = Extract<StepContent, { type: 'diff' }>

/** Everything about a permission, in the form in which it is shown. */
export interface DecisionSubject {
  readonly kind: StepKind
  readonly icon: IconName
  readonly question: string
  /** For a list, where the question would be too long. */
  readonly heading: string
  /** The label of the second tap, which says on its own what it allows. */
  readonly confirm: string
  readonly command: string | undefined
  readonly url: string | undefined
  readonly diffs: readonly Diff[]
  /** Affected files without a diff. */
  readonly paths: readonly string[]
  /** A plan, or the agent's remarks about it; markdown only for a plan. */
  readonly text: string
  /** Arguments that are not shown elsewhere. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Where it happens, if not in the folder of the session. */
  readonly directory: string | undefined
  /** The agent's stated reason. */
  readonly reason: string | undefined
  readonly risk: Risk
}

/** `edited`: files that this agent changed in this session, as far as this device knows. */
export function subjectOf(request: OpenRequest, folder: string | undefined, edited: readonly string[] = []): DecisionSubject {
  const args: Readonly<Record<string, unknown>> =
    typeof request.arguments === 'object' && request.arguments !== null ? { ...request.arguments } : {}
  const kind = request.kind ?? kindOf(request.tool)
  const given = request.content ?? []
  const content = given.some(each => each.type === 'diff') ? given : [...contentOfArgs(request.tool, args), ...given]
  const diffs = content.filter(each => each.type === 'diff')
  const command = commandAsked(kind, { args, title: request.title })
  const url = urlOf(args)
  const named = [...(request.locations ?? []), ...[pathOf(args)].filter(path => path !== undefined)]
  const paths = [...new Set(named)].filter(path => !diffs.some(diff => diff.path === path) && path !== directoryOf(args))
  const text = kind === 'plan' ? planText(args, given) : textOf(content)
  const reason = reasonOf(args)
  const directory = directoryOf(args)
  const fields = leftover(args, { command, url, diffs, reason, directory, text, kind })
  const wording = stepWordsOf(
    { kind, name: request.tool, title: request.title ?? '', description: '', args, locations: request.locations ?? [], content },
    'wants',
    folder
  )
  return {
    kind,
    icon: wording.icon,
    ...namesOf({ kind, command, url, diffs, paths, tool: request.title ?? request.tool }),
    command,
    url,
    diffs,
    paths,
    text: text === command ? '' : text,
    fields,
    directory: directory === folder ? undefined : directory,
    reason,
    risk: graver(
      riskOf(
        riskSubjectOf(
          { tool: request.tool, kind, args, title: request.title, content, locations: request.locations ?? [] },
          { folder, edited }
        )
      ),
      request.risk
    )
  }
}

/** The machine and this device both judge the risk, and the higher level counts. */
function graver(own: Risk, reported: OpenRequest['risk']): Risk {
  if (reported === undefined) return own
  const known = reported.reasons.flatMap(name => riskName.options.find(each => each === name) ?? [])
  const [first, then] = higher(own.level, reported.level) === own.level ? [own.reasons, known] : [known, own.reasons]
  return { ...own, level: higher(own.level, reported.level), reasons: [...new Set([...first, ...then])] }
}

function namesOf(of: {
  kind: StepKind
  command: string | undefined
  url: string | undefined
  diffs: readonly Diff[]
  paths: readonly string[]
  tool: string
}): Pick<DecisionSubject, 'question' | 'heading' | 'confirm'> {
  const { kind, url, diffs, paths } = of
  const { ask, card, confirm } = words
  const tool = visible(of.tool)
  const files = [...new Set([...diffs.map(diff => diff.path), ...paths])].filter(path => path !== '')
  const file = files[0] === undefined ? tool : visible(folderName(files[0]))
  if (of.command !== undefined) return { question: ask.execute, heading: card.execute, confirm: confirm.execute(inShort(of.command)) }
  switch (kind) {
    case 'edit': {
      if (files.length > 1) return asQuestion(ask.editMany(files.length), confirm.editMany(files.length))
      const name = diffs.length > 0 && diffs.every(diff => diff.oldText === null) ? 'write' : 'edit'
      return asQuestion(ask[name](file), confirm[name](inShort(file)))
    }
    case 'delete':
    case 'move':
    case 'read':
      return asQuestion(ask[kind](file), confirm[kind](inShort(file)))
    case 'fetch': {
      const host = url !== undefined && URL.canParse(url) ? new URL(url).host : tool
      return { question: ask.fetch(host), heading: card.fetch, confirm: confirm.fetch(inShort(host)) }
    }
    case 'search':
      return asQuestion(ask.search, confirm.search)
    case 'plan':
      return { question: ask.plan, heading: card.plan, confirm: confirm.plan }
    case 'execute':
    case 'think':
    case 'other':
      return { question: ask.other(tool), heading: card.other(tool), confirm: confirm.other(inShort(tool)) }
  }
}

function asQuestion(question: string, confirm: string): ReturnType<typeof namesOf> {
  return { question, heading: question.replace(/[?？]$/, ''), confirm }
}

/** Enough to recognise it, next to the full text. */
function inShort(text: string): string {
  const line = visible(text).replaceAll(/\s+/g, ' ').trim()
  return line.length > longestName ? `${line.slice(0, longestName - 1).trimEnd()}…` : line
}

const longestName = 48

function planText(args: Readonly<Record<string, unknown>>, content: readonly StepContent[]): string {
  return typeof args['plan'] === 'string' ? args['plan'] : textOf(content)
}

function reasonOf(args: Readonly<Record<string, unknown>>): string | undefined {
  const reason = args['description'] ?? args['justification'] ?? args['reason']
  return typeof reason === 'string' && reason.trim() !== '' ? reason : undefined
}

// An argument is omitted only if exactly that is shown elsewhere; all others are shown by name.
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
  const commandName = commandOf(args) === undefined ? undefined : ['command', 'cmd', 'script'].find(name => (args[name] ?? null) !== null)
  const changeNames = shown.diffs.length === 0 ? [] : ['edits', 'changes', 'content', 'diff', 'patch']
  const out: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    const isShown = elsewhere.has(value) || isShownDiff(value, shown.diffs) || name === commandName || changeNames.includes(name)
    const isNothing = value === undefined || value === null || value === '' || value === false
    if (!isShown && !isNothing) out[name] = value
  }
  return out
}

// Everything it says is in the diff.
function isShownDiff(value: unknown, diffs: readonly Diff[]): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(each => isShownDiff(each, diffs))
  if (typeof value !== 'object' || value === null) return false
  const { type, path, oldText, newText, ...more }: Record<string, unknown> = { ...value }
  const isNothingElse = type === 'diff' && Object.keys(more).length === 0
  return isNothingElse && diffs.some(diff => diff.path === path && diff.oldText === (oldText ?? null) && diff.newText === newText)
}
