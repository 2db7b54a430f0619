import type { SessionFacts } from '../../model/session/facts.ts'
import type { Queued } from '../../model/session/message-queue.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose as words } from '../../words/compose.ts'
import { session } from '../../words/session.ts'

export interface QueueProps {
  queue: readonly Queued[]
  facts: Pick<SessionFacts, 'hasReceipts' | 'editsQueue' | 'host'>
  onEdit(queued: Queued): void
  onSteer(queued: Queued): void
  /** Absent for the first one. */
  onMoveUp(queued: Queued, before: string): void
  onWithdraw(queued: Queued): void
}

/** Each can be edited, moved up or withdrawn until the agent has read it. */
export function QueueList(props: QueueProps) {
  const { queue, facts } = props
  return (
    <ol>
      {queue.map((queued, index) => {
        const canTakeBack = queued.isHere || facts.hasReceipts
        const before = queue[index - 1]
        return (
          <li key={queued.localId}>
            <span class="queue-t" dir="auto">
              {queued.files.length > 0 && <Icon name="paperclip" />}
              {queued.text}
              <small>{queued.isHere ? words.waitsHere : queued.isThere ? session.onMachine(facts.host) : session.stored}</small>
            </span>
            {canTakeBack && (
              <>
                <QueueButton icon="pencil" name={words.edit} onPress={() => props.onEdit(queued)} />
                {facts.editsQueue && before && (
                  <QueueButton icon="chevron-up" name={words.moveUp} onPress={() => props.onMoveUp(queued, before.localId)} />
                )}
                {facts.editsQueue && <QueueButton icon="arrow-up" name={words.steer} onPress={() => props.onSteer(queued)} />}
                <QueueButton icon="x" name={words.withdraw} onPress={() => props.onWithdraw(queued)} />
              </>
            )}
          </li>
        )
      })}
    </ol>
  )
}

function QueueButton({ icon, name, onPress }: { icon: 'pencil' | 'chevron-up' | 'arrow-up' | 'x'; name: string; onPress(): void }) {
  return (
    <button class="ib" type="button" aria-label={name} title={name} onClick={onPress}>
      <Icon name={icon} />
    </button>
  )
}
