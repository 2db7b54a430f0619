import type { StepContent } from '../../../protocol/sealed/messages.ts'
import type { Step } from '../../agents/agent.ts'

type Told = Pick<Step, 'title' | 'input' | 'locations' | 'content'>

/** The same step if its JSON has at most `mostBytes`, otherwise shortened: each truncated text says so itself, in every app. */
export function shortened(step: Step, mostBytes: number): { step: Step; isShort: boolean } {
  if (bytesOf(toldIn(step)) <= mostBytes) return { step, isShort: false }
  for (let longest = mostBytes; longest >= shortestText; longest = Math.floor(longest / 2)) {
    const cut = { ...step, ...cutTo(toldIn(step), longest) }
    if (bytesOf(toldIn(cut)) <= mostBytes) return { step: cut, isShort: true }
  }
  // So many texts that even their beginnings are too long.
  const input = { shortened: 'Too large to show here: see it on the computer.' }
  return { step: { ...step, title: cutText(step.title, shortestText), input, locations: [], content: [] }, isShort: true }
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

/** Ends with the size of the omitted part, in words that fit anywhere. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')
  return `${kept}\n… ${left(text.length - kept.length)}`
}

const shortestText = 64

function toldIn({ title, input, locations, content }: Step): Told {
  return { title, input, locations, content }
}

function cutTo({ title, input, locations, content }: Told, longest: number): Told {
  return {
    title: cutText(title, longest),
    input: Object.fromEntries(Object.entries(input).map(([name, value]) => [name, cutIn(value, longest)])),
    locations: locations.map(path => cutText(path, longest)),
    content: content.map(each => cutContent(each, longest))
  }
}

function cutIn(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return cutText(value, longest)
  if (Array.isArray(value)) return value.map(each => cutIn(each, longest))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutIn(each, longest)]))
}

function cutContent(content: StepContent, longest: number): StepContent {
  if (content.type === 'text') return { ...content, text: cutText(content.text, longest) }
  return content.type === 'diff' ? { ...content, path: cutText(content.path, longest), ...cutDiff(content, longest) } : content
}

/** Starting at the change: otherwise both sides could show the same beginning, as if nothing had changed. */
function cutDiff({ oldText, newText }: Extract<StepContent, { type: 'diff' }>, longest: number) {
  if (oldText === null) return { oldText, newText: cutText(newText, longest) }
  if (oldText.length <= longest && newText.length <= longest) return { oldText, newText }
  const from = changeIn(oldText, newText)
  const before = from === 0 ? '' : `… ${left(from)}\n`
  return { oldText: before + cutText(oldText.slice(from), longest), newText: before + cutText(newText.slice(from), longest) }
}

/** The beginning of the first line that differs. */
function changeIn(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return one.lastIndexOf('\n', at - 1) + 1
}

function left(characters: number): string {
  return `${characters} more characters: see the rest on the computer.`
}
