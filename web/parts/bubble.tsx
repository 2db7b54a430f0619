import { useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { session as words } from '../words/session.ts'
import { type Delivery, type Receiver, Ticks } from './ticks.tsx'

/** What a person wrote. Long texts fold; the row below says how far it got. */
export function Bubble(props: {
  text: string
  at: number
  delivery: Delivery
  to: Receiver
  isNewest: boolean
  fromTerminal: boolean
  onRetry?: () => void
  onEdit?: () => void
  onDiscard?: () => void
}) {
  const [isWhole, setWhole] = useState(false)
  const isLong = props.text.split('\n').length > mostLines || props.text.length > mostCharacters
  return (
    <div class="me">
      <div class={`bub ${isLong && !isWhole ? 'folded' : ''}`} dir="auto">
        {props.text}
      </div>
      {isLong && (
        <button class="txt" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? words.showLess : words.showAll}
        </button>
      )}
      {props.fromTerminal ? (
        <span class="ticks">
          <Icon name="square-terminal" />
          <span class={props.isNewest ? '' : 'vh'}>{words.fromTerminal}</span>
        </span>
      ) : (
        <Ticks delivery={props.delivery} at={props.at} to={props.to} hasWords={props.isNewest} />
      )}
      {props.delivery === 'failed' && (
        <span class="me-acts">
          <button class="txt" type="button" onClick={props.onRetry}>
            {words.tryAgain}
          </button>
          <button class="txt" type="button" onClick={props.onEdit}>
            {words.edit}
          </button>
          <button class="txt" type="button" onClick={props.onDiscard}>
            {words.discard}
          </button>
        </span>
      )}
    </div>
  )
}

const mostLines = 12
const mostCharacters = 900
