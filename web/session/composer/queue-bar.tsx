import { useEffect, useState } from 'preact/hooks'
import type { Queued } from '../../model/session/message-queue.ts'
import { useAfter } from '../../ui/behavior/after.ts'
import { onUse } from '../../ui/behavior/on-use.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose as words } from '../../words/compose.ts'
import type { QueueProps } from './queue-list.tsx'

/** Messages that wait for the end of this step: how many, and each of them when expanded, here or elsewhere. */
export function QueueBar({ isAsked, ...props }: QueueProps & { isAsked: boolean }) {
  const { queue } = props
  const [isOpen, setOpen] = useState(isAsked)
  useEffect(() => {
    if (isAsked) setOpen(true)
  }, [isAsked])
  const { QueueList } = (isOpen && list.get()) || {}
  if (queue.length === 0) return null
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
      {QueueList && <QueueList {...props} />}
    </div>
  )
}

const list = onUse(() => import('./queue-list.tsx'))
const shortMs = 500

/** A message that starts a turn is unread for a moment too, but not queued. */
export function useLastingQueue(queue: readonly Queued[]): readonly Queued[] {
  const isSo = queue.length > 0
  const isLasting = useAfter(shortMs, isSo)
  return isSo && isLasting ? queue : nothing
}

const nothing: readonly Queued[] = []
