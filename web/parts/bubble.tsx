import { createContext } from 'preact'
import { useContext, useId, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import type { Attached } from '../state/attached.ts'
import type { SessionFiles } from '../state/session-files.ts'
import type { Stages } from '../state/session-stages.ts'
import type { Mine } from '../state/transcript.ts'
import { compose } from '../words/compose.ts'
import { lists } from '../words/lists.ts'
import { session as words } from '../words/session.ts'
import { clockTime } from '../words/time.ts'
import { AttachedFiles } from './attached.tsx'
import { copy } from './copy.ts'
import { type Delivery, type Receiver, Ticks } from './ticks.tsx'

/** A message of a person, as its bubble shows it. */
export interface Written {
  /** Undefined for one from another program, which nobody can take back. */
  readonly localId: string | undefined
  /** Undefined until it is stored. */
  readonly seq?: number | undefined
  readonly text: string
  readonly at: number
  readonly files: readonly Attached[]
  readonly from: Mine['from']
  readonly isSteer?: boolean | undefined
  readonly isWithdrawn?: boolean | undefined
}

/** What can be done with messages of the session that is open. */
export interface BubbleActions {
  readonly files: Pick<SessionFiles, 'show'>
  stagesOf(seq: number): Stages
  /** Whether the machine would leave it out. */
  canTakeBack(written: Written, delivery: Delivery): boolean
  /** Into the message that is being written. */
  write(written: Written): void
  /** The same, to say something else in its place. */
  edit(written: Written): void
  withdraw(localId: string): void
  /** Whether a second session can begin that knows all up to its turn. */
  canFork(written: Written, delivery: Delivery): boolean
  fork(written: Written): void
}

export const Bubbles = createContext<BubbleActions | undefined>(undefined)

/** What a person wrote. Long texts fold; the row below says how far it got, and opens what can be done with it. */
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
  const more = useId()
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
          // A long press; with a mouse the browser's own menu is the better one.
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
        aria-controls={isOpen ? more : undefined}
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
      {isOpen && <More id={more} written={written} delivery={delivery} to={props.to} actions={actions} onClose={() => setOpen(false)} />}
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

/** When it came how far, and what can be done with it. */
function More(props: {
  id: string
  written: Written
  delivery: Delivery
  to: Receiver
  actions: BubbleActions | undefined
  onClose(): void
}) {
  const { written, delivery, to, actions, onClose } = props
  const { localId } = written
  const canTakeBack = localId !== undefined && actions?.canTakeBack(written, delivery) === true
  return (
    <div class="me-more" id={props.id}>
      {written.seq !== undefined && written.from === 'app' && (
        <dl>
          {stagesOf(written.at, actions?.stagesOf(written.seq) ?? {}, delivery, to).map(([name, time]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{time}</dd>
            </div>
          ))}
        </dl>
      )}
      <span class="me-acts">
        <button class="txt" type="button" onClick={() => void copy(written.text)}>
          {compose.copy}
        </button>
        {canTakeBack && localId !== undefined && (
          <>
            <button
              class="txt"
              type="button"
              onClick={() => {
                onClose()
                actions?.edit(written)
              }}
            >
              {compose.edit}
            </button>
            <button class="txt" type="button" onClick={() => actions?.withdraw(localId)}>
              {compose.withdraw}
            </button>
          </>
        )}
        {actions && !canTakeBack && (
          <button
            class="txt"
            type="button"
            onClick={() => {
              onClose()
              actions.write(written)
            }}
          >
            {compose.again}
          </button>
        )}
        {actions?.canFork(written, delivery) && (
          <button
            class="txt"
            type="button"
            aria-haspopup="dialog"
            onClick={() => {
              onClose()
              actions.fork(written)
            }}
          >
            {lists.fork}
          </button>
        )}
      </span>
    </div>
  )
}

function stagesOf(at: number, { machineAt, readAt }: Stages, delivery: Delivery, { host, agent }: Receiver): [string, string][] {
  const timeOf = (isReached: boolean, time: number | undefined) =>
    isReached ? (time === undefined ? compose.unknownTime : clockTime(time, Date.now())) : compose.notYet
  const isOnMachine = delivery === 'machine' || delivery === 'read'
  return [
    [compose.stages.stored, clockTime(at, Date.now())],
    [compose.stages.machine(host), timeOf(isOnMachine, machineAt)],
    [compose.stages.read(agent), timeOf(delivery === 'read', readAt)]
  ]
}

const mostLines = 12
const mostCharacters = 900
