import { createContext } from 'preact'
import { useContext, useId, useState } from 'preact/hooks'
import { onUse } from '../../ui/behavior/on-use.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'
import { AttachedFiles } from './attachments.tsx'
import type { BubbleActions, Written } from './bubble-details.tsx'
import { type Delivery, type Receiver, Ticks } from './ticks.tsx'

export const Bubbles = createContext<BubbleActions | undefined>(undefined)

/** A person's message. Long texts collapse; the row below shows its state, and opens its actions. */
export function Bubble(props: {
  written: Written
  delivery: Delivery
  to: Receiver
  isNewest: boolean
  onRetry?: () => void
  onEdit?: () => void
  onDiscard?: () => void
}) {
  const { written, delivery } = props
  const actions = useContext(Bubbles)
  const [isWhole, setWhole] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const panel = useId()
  const { BubbleDetails } = (isOpen && more.get()) || {}
  const isLong = written.text.split('\n').length > mostLines || written.text.length > mostCharacters
  if (written.isWithdrawn) {
    return (
      <p class="note mine gone">
        <Icon name="undo-2" />
        <span>{compose.withdrawn}</span>
        <s dir="auto">{written.text}</s>
      </p>
    )
  }
  return (
    <div class="me">
      {actions && <AttachedFiles files={written.files} shower={actions.files} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the row below does the same by key and by name */}
      <div
        class={`bub ${isLong && !isWhole ? 'folded' : ''}`}
        dir="auto"
        onContextMenu={event => {
          // A long press; with a mouse the browser's own menu is better.
          if (!(event instanceof PointerEvent) || event.pointerType === 'mouse') return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {written.text}
      </div>
      {isLong && (
        <button class="txt" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? words.showLess : words.showAll}
        </button>
      )}
      <button
        class="ticks-b"
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? panel : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="vh">{compose.actions}. </span>
        {written.from !== 'app' ? (
          <span class="ticks">
            <Icon name={written.from === 'decision' ? 'hand' : 'square-terminal'} />
            <span class={props.isNewest ? '' : 'vh'}>{written.from === 'decision' ? words.fromDecision : words.fromTerminal}</span>
          </span>
        ) : (
          <Ticks
            delivery={delivery}
            at={written.at}
            readAt={written.seq === undefined ? undefined : actions?.stagesOf(written.seq).readAt}
            to={props.to}
            hasWords={props.isNewest}
          />
        )}
      </button>
      {BubbleDetails && (
        <BubbleDetails id={panel} written={written} delivery={delivery} to={props.to} actions={actions} onClose={() => setOpen(false)} />
      )}
      {delivery === 'failed' && (
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

/** The actions are rarely used. */
const more = onUse(() => import('./bubble-details.tsx'))

const mostLines = 12
const mostCharacters = 900
