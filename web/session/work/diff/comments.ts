import { type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../../../core/device-db.ts'
import type { SessionTexts } from '../../../model/session/texts.ts'
import { work as words } from '../../../words/work.ts'

/** A comment on a line, a file, or all of the changes. */
export interface WorkComment {
  readonly id: string
  readonly path: string | undefined
  /** Undefined for the file as a whole. `old`: the line was removed. */
  readonly line: { readonly number: number; readonly side: 'old' | 'new'; readonly text: string } | undefined
  readonly text: string
}

/** Comments are collected on this device and sent to the agent together, as one message. */
export interface WorkComments {
  readonly all: ReadonlySignal<readonly WorkComment[]>
  add(comment: Omit<WorkComment, 'id'>): void
  remove(id: string): void
  /** Rejects if this device cannot store the message; the comments stay then. */
  send(): Promise<void>
}

export function openComments(session: string, texts: Pick<SessionTexts, 'send'>): WorkComments {
  const name = `comments.${session}`
  const all = signal<readonly WorkComment[]>([])
  void deviceDb()
    .then(db => db.read(name))
    .then(kept => {
      if (Array.isArray(kept)) all.value = [...kept.filter(isComment), ...all.peek()]
    })
    .catch(() => {})
  const change = (next: readonly WorkComment[]): void => {
    all.value = next
    void deviceDb()
      .then(db => (next.length === 0 ? db.remove(name) : db.write(name, next)))
      .catch(() => {})
  }
  return {
    all,
    add: comment => change([...all.peek(), { ...comment, id: crypto.randomUUID() }]),
    remove: id => change(all.peek().filter(comment => comment.id !== id)),
    async send() {
      const sent = all.peek()
      if (sent.length === 0) return
      await texts.send(messageOf(sent))
      const ids = new Set(sent.map(comment => comment.id))
      change(all.peek().filter(comment => !ids.has(comment.id)))
    }
  }
}

/** For the agent: the place of each comment, with its line, file by file. */
export function messageOf(comments: readonly WorkComment[]): string {
  const paths = [...new Set(comments.map(comment => comment.path))]
  const parts = paths.flatMap(path => comments.filter(comment => comment.path === path)).map(partOf)
  return [words.commentsTitle(comments.length), ...parts].join('\n\n')
}

function partOf({ path, line, text }: WorkComment): string {
  if (path === undefined) return text
  if (line === undefined) return `${path}\n${text}`
  const where = line.side === 'old' ? words.removedLine(line.number) : words.lineAt(line.number)
  return `${path}, ${where}\n> ${line.text.trim()}\n${text}`
}

function isComment(value: unknown): value is WorkComment {
  return typeof value === 'object' && value !== null && 'id' in value && 'text' in value && typeof value.text === 'string'
}
