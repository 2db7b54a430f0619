import type { Attached } from '../../model/session/attachment.ts'
import type { SessionFiles } from '../../model/session/files.ts'
import type { Stages } from '../../model/session/stages.ts'
import type { Mine } from '../../model/transcript/items.ts'
import { copy } from '../../ui/copy.ts'
import { compose } from '../../words/compose.ts'
import { lists } from '../../words/lists.ts'
import { clockTime } from '../../words/time.ts'
import type { Delivery, Receiver } from './ticks.tsx'

/** A person's message, as its bubble shows it. */
export interface Written {
  /** Undefined for a message of another program, which cannot be withdrawn. */
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

/** Actions on messages of the open session. */
export interface BubbleActions {
  readonly files: Pick<SessionFiles, 'show'>
  stagesOf(seq: number): Stages
  /** Whether the machine supports withdrawing it. */
  canTakeBack(written: Written, delivery: Delivery): boolean
  /** Inserts it into the draft. */
  write(written: Written): void
  /** The same, as an edit of the message. */
  edit(written: Written): void
  withdraw(localId: string): void
  /** Whether the session can be forked after its turn. */
  canFork(written: Written, delivery: Delivery): boolean
  fork(written: Written): void
}

/** When it reached each stage, and its actions. */
export function BubbleDetails(props: {
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
