import { useEffect, useRef, useState } from 'preact/hooks'
import { confirming } from '../../core/preferences.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import { words } from '../../words/index.ts'

const holdMs = 900
const armMs = 600
const inertMs = 400
/** A resting finger trembles by less. */
const slidesFromPx = 12

/**
 * A button that a stray tap cannot press. By default it is held for 900 ms while the fill shows the progress; with the preference for taps, or a
 * screen reader, it takes two taps: the second one is labelled `confirmLabel` and works after 600 ms. Inert for 400 ms after it appears.
 * Sliding off it cancels the hold; a layout that moves it from under a still finger does not.
 */
export function HoldButton(props: {
  label: string
  /** Its label if it is tapped instead of held. */
  tapLabel: string
  confirmLabel: string
  onConfirm(): void
  busy?: string | false
  isDanger?: boolean
  describedBy?: string
}) {
  const [phase, setPhase] = useState<'still' | 'holding' | 'arming' | 'armed'>('still')
  const [isTapped, setTapped] = useState(false)
  const [isTooShort, setTooShort] = useState(false)
  const appearedAt = useRef(performance.now())
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const byTaps = confirming.value === 'taps' || isTapped

  useEffect(() => () => clearTimeout(timer.current), [])

  // The state at the end counts, not that at the start: losing the connection meanwhile cancels it.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    if (!props.busy) return
    clearTimeout(timer.current)
    setPhase('still')
  }, [props.busy])

  const isInert = () => Boolean(props.busy) || performance.now() - appearedAt.current < inertMs
  const later = (ms: number, then: () => void) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(then, ms)
  }
  const confirm = () => {
    clearTimeout(timer.current)
    setPhase('still')
    if (latest.current.busy) return
    feel('sent')
    latest.current.onConfirm()
  }
  const press = () => {
    if (byTaps || isInert() || phase === 'holding') return
    setTooShort(false)
    setPhase('holding')
    feel('held')
    later(holdMs, confirm)
  }
  const pressedAt = useRef({ x: 0, y: 0 })
  const pressByPointer = (event: PointerEvent & { currentTarget: HTMLButtonElement }) => {
    if (event.button !== 0) return
    pressedAt.current = { x: event.clientX, y: event.clientY }
    // Otherwise letting go is not noticed once the button has moved away.
    event.currentTarget.setPointerCapture(event.pointerId)
    press()
  }
  const slide = (event: PointerEvent & { currentTarget: HTMLButtonElement }) => {
    const { x, y } = pressedAt.current
    const hasMoved = Math.hypot(event.clientX - x, event.clientY - y) >= slidesFromPx
    if (hasMoved && !isWithin(event.currentTarget.getBoundingClientRect(), event)) release()
  }
  const release = () => {
    if (phase !== 'holding') return
    clearTimeout(timer.current)
    setPhase('still')
    setTooShort(true)
  }
  const tap = (event: MouseEvent) => {
    if (isInert()) return
    // A click made by neither pointer nor key comes from a screen reader or a switch, which cannot hold.
    if (!byTaps && event.detail === 0 && !isKeyDown.current) setTapped(true)
    else if (!byTaps) return
    if (phase === 'armed') return confirm()
    setPhase('arming')
    later(armMs, () => setPhase('armed'))
  }
  const isKeyDown = useRef(false)
  const isTold = isTooShort && phase === 'still' && !byTaps && !props.busy

  return (
    <>
      <span class="vh" role="status">
        {isTold && `${props.label}. ${words.holdOn}`}
      </span>
      <button
        type="button"
        class={`btn lg wide hold ${props.isDanger ? 'danger' : 'primary'} ${byTaps ? 'taps' : ''} ${phase === 'holding' ? 'holding' : ''} ${props.busy ? 'busy' : ''}`}
        aria-describedby={props.describedBy}
        aria-disabled={props.busy || phase === 'arming' ? true : undefined}
        onPointerDown={pressByPointer}
        onPointerMove={slide}
        onPointerUp={release}
        onPointerCancel={release}
        onContextMenu={event => event.preventDefault()}
        onBlur={() => {
          isKeyDown.current = false
          clearTimeout(timer.current)
          setPhase('still')
        }}
        onKeyDown={event => {
          if (event.key !== 'Enter' && event.key !== ' ') return
          isKeyDown.current = true
          if (!byTaps) event.preventDefault()
          if (!event.repeat) press()
        }}
        onKeyUp={() => {
          isKeyDown.current = false
          release()
        }}
        onClick={tap}
      >
        <span class="hold-fill" />
        <span class="hold-label">
          {props.busy || (phase === 'arming' || phase === 'armed' ? props.confirmLabel : byTaps ? props.tapLabel : props.label)}
          {isTold && <small>{words.holdOn}</small>}
        </span>
      </button>
    </>
  )
}

function isWithin({ left, right, top, bottom }: DOMRect, { clientX, clientY }: PointerEvent): boolean {
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom
}
