import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../../ui/copy-button.tsx'
import { words as app } from '../../words/app.ts'
import { session as words } from '../../words/session.ts'
import { readAnsi } from '../text/ansi.ts'

/** The output of a command: its last lines, and all of it on request. */
export function Output({ text }: { text: string }) {
  const lines = useMemo(() => readAnsi(text.trimEnd()), [text])
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? lines.slice(-mostLines) : lines.slice(-tailLines)
  return (
    <div class="out-w">
      <span class="vh">{words.lastLines(shown.length)}:</span>
      <pre
        class="out"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
        tabIndex={0}
      >
        <code>
          {shown.map((spans, index) => (
            <span key={lines.length - shown.length + index}>
              {spans.map((span, at) =>
                span.look === '' ? (
                  span.text
                ) : (
                  <i key={at} class={span.look}>
                    {span.text}
                  </i>
                )
              )}
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
      <CopyButton text={text} what={app.output} />
      {lines.length > tailLines && (
        <button class="txt" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? words.showLess
            : lines.length > mostLines
              ? words.showLastLines(mostLines, lines.length)
              : words.showAllLines(lines.length)}
        </button>
      )}
    </div>
  )
}

const tailLines = 12
const mostLines = 2000
