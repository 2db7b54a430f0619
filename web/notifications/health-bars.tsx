import type { TrackedNotification } from '../model/notifications/channel-health.ts'
import { barsInWords, delayOf } from './health-words.ts'

const [width, gap, height] = [6, 4, 32]
const shown = 20
const leastHeight = 6
const looks = {
  arrived: { fill: 'var(--agent)' },
  missed: { fill: 'none', stroke: 'var(--line-strong)', 'stroke-width': 1.5 }
} as const

/** One bar per recent notification, its height showing the delay; hollow if it did not arrive. */
export function HealthBars({ arrivals }: { arrivals: readonly TrackedNotification[] }) {
  const last = arrivals.slice(-shown)
  const slowest = Math.max(1, ...last.map(delayOf))
  const place = (index: number) => (shown - last.length + index) * (width + gap) + 1
  return (
    <svg
      viewBox={`0 0 ${shown * (width + gap)} ${height + 2}`}
      width="100%"
      height="40"
      preserveAspectRatio="none"
      role="img"
      aria-label={barsInWords(last)}
    >
      {last.map((arrival, index) => {
        const tall = arrival.has === 'missed' ? height : Math.max(leastHeight, (delayOf(arrival) / slowest) * height)
        return (
          <rect
            key={arrival.at}
            {...looks[arrival.has]}
            x={place(index)}
            y={height + 1 - tall}
            width={width}
            height={tall}
            rx={2}
            vector-effect="non-scaling-stroke"
          />
        )
      })}
    </svg>
  )
}
