import type { Attached } from '../../session/attachment.ts'
import { agentOf, hostOf, titleOf } from '../../sessions.ts'
import type { SessionView } from '../../store.ts'
import type { Item, Step } from '../items.ts'
import { harmlessMarkdown } from './harmless-markdown.ts'

/** A session as a page for any editor. Always in English: the file is for programs too. */
export function markdownOf(session: SessionView, items: readonly Item[]): string {
  const facts = [
    ['Agent', agentOf(session)],
    ['Machine', hostOf(session, undefined)],
    ['Folder', session.metadata?.path],
    ['Begun', new Date(session.createdAt).toISOString()]
  ]
  const head = facts.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${plain(value)}`]))
  return [`# ${plain(titleOf(session) ?? session.id)}`, head.join('\n'), ...items.flatMap(partsOf)].join('\n\n').concat('\n')
}

function partsOf(item: Item): string[] {
  switch (item.type) {
    case 'mine':
      if (item.isWithdrawn) return []
      return [`## You, ${time(item.at)}`, ...item.files.map(fileLine), harmlessMarkdown(item.text)]
    case 'prose':
      return [harmlessMarkdown(item.text), ...(item.isCut ? ['*Cut off here*'] : [])]
    case 'thinking':
      return [quoted(harmlessMarkdown(item.text))]
    case 'step':
      return stepParts(item)
    case 'plan':
      return [item.entries.map(({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${plain(content)}`).join('\n')]
    case 'file':
      return [fileLine(item.file)]
    case 'note':
      return [harmlessMarkdown(item.text)]
    case 'turn-ended':
      return [`*Turn ${item.status}*`]
    case 'limit':
      return ['*Usage limit reached*']
    case 'control':
      return [`*Continued in the ${item.to}*`]
    case 'fault':
      return [`*Wrong on the way: ${item.fault} (${item.count})*`]
    case 'skipped':
      return [`*${item.count} could not be opened*`]
    default:
      return []
  }
}

function stepParts(step: Step): string[] {
  const head = `- **${plain(step.title || step.name)}** (${step.state}, ${time(step.at)})`
  return [head, ...step.content.flatMap(contentParts)]
}

function contentParts(content: Step['content'][number]): string[] {
  switch (content.type) {
    case 'text':
      return [fenced(content.text)]
    case 'diff':
      return [plain(content.path), fenced(content.newText)]
    default:
      return []
  }
}

// A fence longer than any inside.
function fenced(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

// Text that is not the agent's Markdown is escaped: no viewer may turn a file name into a link or fetch a picture.
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|!&~]/g, '\\$&')
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n')
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}

function fileLine({ name, size }: Attached): string {
  return `File: ${plain(name)}, ${size} bytes`
}
