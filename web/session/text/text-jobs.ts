import type { Token } from 'marked'
import { diffFile, type FileDiff } from './diff-lines.ts'
import { lex } from './markdown-lex.ts'

/** Questions about a text that is too long to process within a frame. */
export type TextJob =
  | { readonly type: 'markdown'; readonly text: string }
  | { readonly type: 'diff'; readonly oldText: string | null; readonly newText: string; readonly isFile: boolean }

export type AnswerTo<Question extends TextJob> = (Question extends { type: 'markdown' } ? Token[] : FileDiff) | undefined

export function read(asked: TextJob): AnswerTo<TextJob> {
  return asked.type === 'markdown' ? lex(asked.text) : diffFile(asked.oldText, asked.newText, { isFile: asked.isFile })
}
