import { Icon, type IconName } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'
import { clockTime, fullTime } from '../../words/time.ts'

/** The state of a message, as far as this device knows: a machine without receipts may have it all the same. */
export type Delivery = 'device' | 'sending' | 'stored' | 'machine' | 'read' | 'failed'

/** The recipient of a message. */
export interface Receiver {
  readonly host: string
  readonly agent: string
  /** It sends receipts; otherwise the state is unknown. */
  readonly tells: boolean
}

/** With text on the newest, only the shape on older ones. */
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

/** On older messages only the shape shows these. */
function isUnderWay(delivery: Delivery): boolean {
  return delivery === 'stored' || delivery === 'machine' || delivery === 'read'
}

function textOf({ delivery, at, readAt, to: { host, agent, tells } }: Parameters<typeof Ticks>[0]): string {
  switch (delivery) {
    case 'device':
      return words.onDevice
    case 'sending':
      return words.sending
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
  sending: 'clock-3',
  stored: 'check',
  machine: 'check-check',
  read: 'check-check',
  failed: 'circle-alert'
}
