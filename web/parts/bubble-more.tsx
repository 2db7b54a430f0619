import type { Stages } from '../state/session-stages.ts'
import { compose } from '../words/compose.ts'
import { lists } from '../words/lists.ts'
import { clockTime } from '../words/time.ts'
import type { BubbleActions, Written } from './bubble.tsx'
import { copy } from './copy.ts'
import type { Delivery, Receiver } from './ticks.tsx'

/** When it came how far, and what can be done with it. */
export function More(props: {
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
