import type { Partial } from '../../model/transcript/transcript.ts'
import { Ring } from '../../ui/icons/glyph.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'
import { Markdown } from '../text/markdown.tsx'
import { closed } from '../text/markdown-growing.ts'

/** Growing text. Screen readers get the finished paragraph instead. `cutOff`: its agent is gone. */
export function Growing({ partial, cutOff }: { partial: Partial; cutOff: string | undefined }) {
  if (cutOff !== undefined) {
    return partial.thinking ? null : (
      <>
        <div class="say">
          <Markdown text={partial.text} />
        </div>
        <p class="note cut">
          <Icon name="info" />
          {cutOff}
        </p>
      </>
    )
  }
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
      <Markdown text={closed(partial.text)} />
    </div>
  )
}
