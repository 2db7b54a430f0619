import { Icon, type IconName } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'
import { clockTime, fullTime } from '../../words/time.ts'

/** How far a message of mine has got, as far as this device knows: a machine that tells nothing may have it all the same. */
export type Delivery = 'device' | 'leaving' | 'stored' | 'machine' | 'read' | 'failed'

/** Whom a message goes to. */
export interface Receiver {
  readonly host: string
  readonly agent: string
  /** It tells how far messages come; of one that does not, nobody knows. */
  readonly tells: boolean
}

/** Words on the newest, the shape alone on older ones. */
export function Ticks(props: { delivery: Delivery; at: number; readAt?: number | undefined; to: Receiver; hasWords: boolean }) {
  const { delivery, at, hasWords } = props
  const shown = textOf(props)
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

function textOf({ delivery, at, readAt, to: { host, agent, tells } }: Parameters<typeof Ticks>[0]): string {
  switch (delivery) {
    case 'device':
      return words.onDevice
    case 'leaving':
      return words.leaving
    case 'stored':
      return tells ? words.storedNotReached(host) : words.storedAt(clockTime(at, Date.now()))
    case 'machine':
      return words.onMachine(host)
    case 'read':
      return readAt === undefined ? words.readBy(agent) : words.readByAt(agent, clockTime(readAt, Date.now()))
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
