import type { ComponentChildren } from 'preact'
import { makeVisible } from './visible-text.ts'

/** Text with everything that could hide in it escaped and marked. */
export function escaped(text: string): ComponentChildren {
  return makeVisible(text).map((span, index) =>
    span.isEscape ? (
      <span key={index} class="esc">
        {span.text}
      </span>
    ) : (
      span.text
    )
  )
}
