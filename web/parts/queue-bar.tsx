import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import type { SessionFacts } from '../state/session-facts.ts'
import type { Queued } from '../state/session-queue.ts'
import { compose as words } from '../words/compose.ts'
import { session } from '../words/session.ts'

/** What waits for the end of this step. Each can be changed, brought forward or taken back as long as the agent has not read it. */
export function QueueBar(props: {
  queue: readonly Queued[]
  facts: Pick<SessionFacts, 'hasReceipts' | 'editsQueue' | 'host'>
  onEdit(queued: Queued): void
  onSteer(queued: Queued): void
  /** Not there for the first one. */
  onMoveUp(queued: Queued, before: string): void
  onWithdraw(queued: Queued): void
}) {
  const { queue, facts } = props
  const [isOpen, setOpen] = useState(false)
  const isLasting = useLasting(queue.length > 0)
  if (!isLasting || queue.length === 0) return null
  return (
    <div class="queue">
      <p class="vh" role="status">
        {words.waits(queue.length)}
      </p>
      <button class="queue-h" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="list-end" />
        <b>{words.waits(queue.length)}</b>
        <span>{words.waitsHint}</span>
        <Icon name={isOpen ? 'chevron-down' : 'chevron-up'} />
      </button>
      {isOpen && (
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
      )}
    </div>
  )
}

function QueueButton({ icon, name, onPress }: { icon: 'pencil' | 'chevron-up' | 'arrow-up' | 'x'; name: string; onPress(): void }) {
  return (
    <button class="ib" type="button" aria-label={name} title={name} onClick={onPress}>
      <Icon name={icon} />
    </button>
  )
}

const shortMs = 500

/** What begins a turn is unread for a moment, too: that is no queue. */
function useLasting(isSo: boolean): boolean {
  const [isLasting, setLasting] = useState(false)
  useEffect(() => {
    if (!isSo) return setLasting(false)
    const timer = setTimeout(() => setLasting(true), shortMs)
    return () => clearTimeout(timer)
  }, [isSo])
  return isLasting && isSo
}
