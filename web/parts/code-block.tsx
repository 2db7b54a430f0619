import { useMemo } from 'preact/hooks'
import { session as words } from '../words/session.ts'
import { CopyButton } from './copy-button.tsx'
import { highlightLine } from './highlight.ts'

/** Code in what an agent writes, with its language and a way to copy it. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const lines = useMemo(() => text.split('\n').map(line => highlightLine(line, language.toLowerCase())), [text, language])
  return (
    <figure class="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} what={words.code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard */}
      <pre tabIndex={0}>
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
