import type { ComponentChildren } from 'preact'
import { now } from '../core/clock.ts'
import type { Live } from '../model/account/live.ts'
import { healthOf } from '../model/notifications/channel-health.ts'
import type { Channel } from '../model/notifications/notifications.ts'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { delayInWords, notifications as words } from '../words/notifications.ts'
import { HealthBars } from './health-bars.tsx'
import { lastWords } from './health-words.ts'
import { TestButton } from './test.tsx'

/** The delivery rate of one channel, and a test. */
export function HealthCard({ link, channel, title }: { link: Live; channel: Channel; title: string }) {
  const { state, arrivals, last } = healthOf(channel, now.value)
  const { sent, arrived, typicalMs, slowestMs } = channel.health
  return (
    <State
      icon={state === 'reaching' ? 'check' : 'bell'}
      needs={state === 'missing'}
      title={title}
      text={lastWords(last, state, now.value)}
    >
      {channel.acknowledges && arrivals.length > 0 && (
        <>
          <HealthBars arrivals={arrivals} />
          <dl class="stats">
            <Stat name={words.arrived} value={words.arrivedOf(arrived, sent)} />
            <Stat name={words.typical} value={typicalMs === null ? words.unknown : delayInWords(typicalMs)} />
            <Stat name={words.slowest} value={slowestMs === null ? words.unknown : delayInWords(slowestMs)} />
          </dl>
        </>
      )}
      <TestButton link={link} channel={channel} />
    </State>
  )
}

/** The card at the top of the page: the state on this device, and what can be done about it. */
export function State(props: { icon: IconName; needs?: boolean; title: string; text: string; children?: ComponentChildren }) {
  const look = props.needs ? 'gl-needs' : props.icon === 'check' ? 'gl-done' : 'gl-away'
  return (
    <section class="card form" aria-labelledby="here-h">
      <div class="ask-h">
        <span class={`gl big ${look}`}>
          <Icon name={props.icon} />
        </span>
        <div class="intro">
          <h2 id="here-h">{props.title}</h2>
          <p class="lead" role="status">
            {props.text}
          </p>
        </div>
      </div>
      {props.children}
    </section>
  )
}

function Stat({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt class="hint">{name}</dt>
      <dd>
        <b>{value}</b>
      </dd>
    </div>
  )
}
