import { useMemo, useRef, useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'
import { highlightLine } from './highlight.ts'

/** Code in an agent's text, with its language, a copy button, and one to wrap long lines. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const lines = useMemo(() => text.split('\n').map(line => highlightLine(line, language.toLowerCase())), [text, language])
  const [chosen, choose] = useState<boolean>()
  const wraps = chosen ?? isOn('wrap')
  // With a mouse a double click selects a word.
  const isTouched = useRef(false)
  return (
    <figure class={`code ${wraps ? 'wraps' : ''}`}>
      <figcaption>
        <span>{language}</span>
        {text.split('\n').some(line => line.length > alwaysFits) && (
          <button class="copy" type="button" aria-label={words.wrapLines} aria-pressed={wraps} onClick={() => choose(!wraps)}>
            <Icon name="text-wrap" />
          </button>
        )}
        <CopyButton text={text} what={words.code} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
        tabIndex={0}
        onPointerDown={({ pointerType }) => {
          isTouched.current = pointerType === 'touch'
        }}
        onDblClick={() => isTouched.current && choose(!wraps)}
      >
        <code>
          {lines.map((spans, index) => (
            <span key={index}>
              {spans.map((span, at) =>
                span.look === '' ? (
                  span.text
                ) : (
                  <i key={at} class={span.look}>
                    {span.text}
                  </i>
                )
              )}
              {index < lines.length - 1 ? '\n' : ''}
            </span>
          ))}
        </code>
      </pre>
    </figure>
  )
}

// In characters, on the narrowest phone.
const alwaysFits = 32
