import type { ComponentChildren } from 'preact'
import type { Trouble } from '../../model/account/machine-call.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { words as app } from '../../words/app.ts'
import { start as words } from '../../words/start.ts'
import { Raw } from '../text/raw.tsx'

/** Why something on a machine failed; the machine's own message is shown unchanged. */
export function TroubleCard(props: { title: string; trouble: Trouble; host: string; children?: ComponentChildren }) {
  const { trouble, host } = props
  return (
    <div class="problem" role="alert">
      <Icon name="circle-alert" />
      <div class="said">
        <b>{props.title}</b>
        {trouble.why === 'failed' ? (
          <>
            <span>{words.lastLines(host)}</span>
            <Said text={trouble.says.trim()} />
          </>
        ) : (
          <span>{troubleWords(trouble.why, host)}</span>
        )}
        {props.children}
      </div>
    </div>
  )
}

// The last lines say most; to ask for help, all are needed.
function Said({ text }: { text: string }) {
  const lines = text.split('\n')
  return (
    <>
      <pre dir="auto">{lines.slice(-linesShown).join('\n')}</pre>
      {lines.length > linesShown ? <Raw text={text} what={app.output} /> : <CopyButton text={text} what={app.output} />}
    </>
  )
}

const linesShown = 3

function troubleWords(why: Exclude<Trouble['why'], 'failed'>, host: string): string {
  return why === 'not-connected' ? words.trouble[why] : words.trouble[why](host)
}
