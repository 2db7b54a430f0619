import { Icon, type IconName } from '../icons/icon.tsx'
import { session as words } from '../words/session.ts'
import { clockTime, fullTime } from '../words/time.ts'

/** How far a message of mine has got, as far as this device knows. Nothing here means that the machine or the agent has it. */
export type Delivery = 'device' | 'leaving' | 'stored' | 'failed'

/** Words on the newest, the shape alone on older ones. */
export function Ticks({ delivery, at, hasWords }: { delivery: Delivery; at: number; hasWords: boolean }) {
  const shown = textOf(delivery, at)
  return (
    <span class={`ticks t-${delivery}`} title={fullTime(at)}>
      <Icon name={icons[delivery]} />
      <span class={hasWords || delivery !== 'stored' ? '' : 'vh'}>{shown}</span>
    </span>
  )
}

function textOf(delivery: Delivery, at: number): string {
  switch (delivery) {
    case 'device':
      return words.onDevice
    case 'leaving':
      return words.leaving
    case 'stored':
      return words.storedAt(clockTime(at, Date.now()))
    case 'failed':
      return words.notDelivered
  }
}

const icons: Readonly<Record<Delivery, IconName>> = { device: 'clock-3', leaving: 'clock-3', stored: 'check', failed: 'circle-alert' }
