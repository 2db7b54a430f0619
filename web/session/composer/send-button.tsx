import { useEffect, useRef } from 'preact/hooks'
import { feel } from '../../ui/behavior/haptics.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'

/** Sends; while the agent works it queues, and holding it steers. */
export function SendButton(props: { isWorking: boolean; isChange: boolean; canSend: boolean; isWaiting: boolean; onSteer(): void }) {
  const { canSend, isWaiting, isChange } = props
  const isWorking = props.isWorking && !isChange
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const hasSteered = useRef(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  const letGo = () => clearTimeout(timer.current)
  return (
    <button
      class={`send ${isWaiting ? 'busy' : ''}`}
      type="submit"
      aria-label={isChange ? compose.keepChange : isWorking ? words.queue : words.send}
      title={isWorking ? compose.steerHint : undefined}
      aria-disabled={canSend && !isWaiting ? undefined : true}
      onPointerDown={event => {
        hasSteered.current = false
        if (!isWorking || !canSend || event.button !== 0) return
        timer.current = setTimeout(() => {
          hasSteered.current = true
          feel('held')
          props.onSteer()
        }, steerAfterMs)
      }}
      onPointerUp={letGo}
      onPointerCancel={letGo}
      onPointerLeave={letGo}
      onContextMenu={event => isWorking && event.preventDefault()}
      onClick={event => hasSteered.current && event.preventDefault()}
    >
      <Icon name={isChange ? 'check' : isWorking ? 'list-end' : 'arrow-up'} />
    </button>
  )
}

const steerAfterMs = 600
