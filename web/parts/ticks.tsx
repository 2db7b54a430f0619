import { Icon, type IconName } from '../icons/icon.tsx'
import { session as words } from '../words/session.ts'
import { clockTime, fullTime } from '../words/time.ts'

/** How far a message of mine has got, as far as this device knows: a machine that tells nothing may have it all the same. */
export type Delivery = 'device' | 'leaving' | 'stored' | 'machine' | 'read' | 'failed'

/** Whom a message goes to. */
export interface Receiver {
  readonly host: string
  readonly agent: string
}

/** Words on the newest, the shape alone on older ones. */
export function Ticks({ delivery, at, to, hasWords }: { delivery: Delivery; at: number; to: Receiver; hasWords: boolean }) {
  const shown = textOf(delivery, at, to)
  return (
    <span class={`ticks t-${delivery}`} title={fullTime(at)}>
      <Icon name={icons[delivery]} />
      <span class={hasWords || !isUnderWay(delivery) ? '' : 'vh'}>{shown}</span>
    </span>
  )
}

/** On older messages the shape alone says these. */
function isUnderWay(delivery: Delivery): boolean {
  return delivery === 'stored' || delivery === 'machine' || delivery === 'read'
}

function textOf(delivery: Delivery, at: number, { host, agent }: Receiver): string {
  switch (delivery) {
    case 'device':
      return words.onDevice
    case 'leaving':
      return words.leaving
    case 'stored':
      return words.storedAt(clockTime(at, Date.now()))
    case 'machine':
      return words.onMachine(host)
    case 'read':
      return words.readBy(agent)
    case 'failed':
      return words.notDelivered
  }
}

const icons: Readonly<Record<Delivery, IconName>> = {
  device: 'clock-3',
  leaving: 'clock-3',
  stored: 'check',
  machine: 'check-check',
  read: 'check-check',
  failed: 'circle-alert'
}
