import { Ring } from '../icons/glyph.tsx'
import type { Partial } from '../state/transcript.ts'
import { session as words } from '../words/session.ts'
import { Markdown } from './markdown.tsx'

/** Text that still grows. Who listens gets the finished paragraph instead. */
export function Growing({ partial }: { partial: Partial }) {
  if (partial.thinking) {
    return (
      <div class="growing-thought" aria-hidden="true">
        <span class="s-ring">
          <Ring />
        </span>
        <span>{words.thinks}</span>
        <span class="growing-line" dir="auto">
          {partial.text.trim().split('\n').at(-1)}
        </span>
      </div>
    )
  }
  return (
    <div class="say growing" aria-hidden="true">
      <Markdown text={partial.text} />
    </div>
  )
}
