import { CopyButton } from '../../ui/copy-button.tsx'
import { words } from '../../words/app.ts'

/** The raw form, collapsed, for people who need the exact content. */
export function Raw({ text, what }: { text: string; what: string }) {
  return (
    <details class="raw">
      <summary>{words.details}</summary>
      <div class="out-w">
        <pre
          class="out"
          dir="auto"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
          tabIndex={0}
        >
          {text}
        </pre>
        <CopyButton text={text} what={what} />
      </div>
    </details>
  )
}
