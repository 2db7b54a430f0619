import type { ComponentChildren } from 'preact'
import { Icon } from '../icons/icon.tsx'
import type { Trouble } from '../state/starting.ts'
import { start as words } from '../words/start.ts'

/** Why something on a machine did not happen; what the machine itself said stands as it came. */
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
            <pre dir="auto">{trouble.says}</pre>
          </>
        ) : (
          <span>{troubleWords(trouble.why, host)}</span>
        )}
        {props.children}
      </div>
    </div>
  )
}

function troubleWords(why: Exclude<Trouble['why'], 'failed'>, host: string): string {
  return why === 'not-connected' ? words.trouble[why] : words.trouble[why](host)
}
