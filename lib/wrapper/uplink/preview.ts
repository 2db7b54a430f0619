import { questionTool, readQuestions } from '../../protocol/sealed/decisions/ask-user-question.ts'
import { hasHidden } from '../../protocol/sealed/decisions/hidden-characters.ts'
import { commandAsked } from '../../protocol/sealed/decisions/subject.ts'
import { kindOf, pathOf, urlOf } from '../../protocol/sealed/decisions/tool-args.ts'
import { firstLine, plainLine, titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { NoticePreview, PreviewedAsk } from '../../protocol/sealed/preview.ts'
import type { PermissionRequest } from '../../protocol/sealed/session.ts'
import type { SessionNotes } from '../home/session-notes.ts'

export type Preview = Omit<NoticePreview, 'sealedFor'>

/** The content of a notification of this session; `asked` is the open request, by its id. */
export function previewOf(
  { metadata, firstPrompt }: Pick<SessionNotes, 'metadata' | 'firstPrompt'>,
  asked?: { ask: string; request: PermissionRequest }
): Preview {
  const { summary, name, path } = metadata
  const titles = [summary?.text, name, firstPrompt && titleOfPrompt(firstPrompt), path.split(/[/\\]/).findLast(part => part !== '')]
  const title = titles.map(text => plainLine(text ?? '')).find(text => text !== '') ?? ''
  return asked ? { title, asks: asksOf(asked.ask, asked.request) } : { title }
}

function asksOf(id: string, request: PermissionRequest): PreviewedAsk {
  const { shown } = request
  const about = { id, ...(shown !== undefined && { shown }) }
  if (request.tool === questionTool && request.choices === undefined) return { ...about, ...questionOf(request) }
  const kind = request.kind ?? kindOf(request.tool)
  const args = argsOf(request)
  const command = commandAsked(kind, { args, title: request.title })
  const text = command ?? urlOf(args) ?? filesOf(request, args) ?? firstLine(request.title ?? request.tool)
  const risk = request.risk?.level ?? 'risky'
  const isWhole = command !== undefined && isAllOf(request, args)
  return { ...about, type: 'permission', kind, text, isWhole, risk, mayAllow: isWhole && mayAllow(request, command) }
}

// Only a command that fits in a line or two can be judged on a lock screen.
const longestAllowed = 120

function mayAllow({ risk, choices, shown }: PermissionRequest, command: string): boolean {
  const isPlain = risk?.level === 'plain' && risk.knowsEdits === true && shown !== undefined
  const isShort = command.length <= longestAllowed && !/[\r\n]/.test(command) && !hasHidden(command)
  const takesYes = choices?.filter(({ kind }) => kind === 'allow_once').length === 1
  return isPlain && isShort && takesYes
}

/** The command is the whole request: no other folder, no diff, and no argument besides the command and its description. */
function isAllOf({ content = [], locations = [] }: PermissionRequest, args: Readonly<Record<string, unknown>>): boolean {
  const beside = Object.entries(args).filter(
    ([name, value]) => !commandNames.has(name) && value !== undefined && value !== null && value !== ''
  )
  const said = Object.values(args)
  const isSaid = content.every(each => each.type === 'text' && (each.text === '' || said.includes(each.text)))
  return beside.length === 0 && locations.length === 0 && isSaid
}

// Names and descriptions of a command.
const commandNames = new Set(['command', 'cmd', 'script', 'description'])

function filesOf({ content = [], locations = [] }: PermissionRequest, args: Readonly<Record<string, unknown>>): string | undefined {
  const changed = content.flatMap(each => (each.type === 'diff' ? [each.path] : []))
  const files = [...new Set([...changed, ...locations, ...[pathOf(args)].filter(path => path !== undefined)])]
  return files.length === 0 ? undefined : files.join('\n')
}

function questionOf({ form, title, arguments: args }: PermissionRequest): Omit<Extract<PreviewedAsk, { type: 'question' }>, 'id'> {
  const questions = form?.questions ?? readQuestions(args) ?? []
  const [only, ...more] = questions
  const text = plainLine(only?.question ?? title ?? '')
  const takesText = only !== undefined && more.length === 0 && only.number === undefined && (only.allowsOther || only.options.length === 0)
  return { type: 'question', text, ...(takesText && { reply: only.id }) }
}

function argsOf(request: PermissionRequest): Readonly<Record<string, unknown>> {
  return typeof request.arguments === 'object' && request.arguments !== null ? { ...request.arguments } : {}
}
