import type { ComponentChildren } from 'preact'
import { makeVisible } from './visible-text.ts'

/** Text with what could hide in it written out and marked. */
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
