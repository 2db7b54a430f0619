import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Icon, type IconName } from '../icons/icon.tsx'
import { Banner } from '../parts/banner.tsx'
import { Button, ButtonLink } from '../parts/button.tsx'
import { HealthBars } from '../parts/health-bars.tsx'
import { type Arrival, type ChannelHealth, healthOf, type MissCause } from '../state/channel-health.ts'
import { now } from '../state/clock.ts'
import type { Channel } from '../state/notifications.ts'
import { isMobile, isRingingBusy, isRingingHere, reach, ringingProblem, turnOff, turnOn } from '../state/ringing.ts'
import { delayInWords, notifications as words } from '../words/notifications.ts'
import { ringing } from '../words/ringing.ts'
import { agoInWords } from '../words/time.ts'
import type { Told } from './notifications.tsx'
import { TestButton } from './notifications-test.tsx'

/** Whether this device rings, and the way out where it does not. */
export function ThisDevice({ told }: { told: Told | undefined }) {
  const device = isMobile() ? 'phone' : 'computer'
  if (isRingingHere.value) return <Ringing told={told} device={device} />
  switch (reach.value) {
    case 'granted':
    case 'undetermined':
      return (
        <State icon="bell" title={words.off[device]} text={words.offText[device]}>
          <Button look="primary" icon="bell-ring" isWide onClick={() => void turnOn()} busy={isRingingBusy.value && words.turningOn}>
            {ringing.turnOn}
          </Button>
        </State>
      )
    case 'denied':
      return <State icon="bell-off" needs title={ringing.deniedTitle} text={words.deniedSteps[browser()]} />
    case 'needs-home-screen':
      return <State icon="square-plus" title={ringing.homeScreenTitle} text={ringing.homeScreenText} />
    case 'insecure':
      return <State icon="bell-off" title={words.insecure} text={words.insecureText} children={<ToNtfy />} />
    case 'unsupported':
      return <State icon="bell-off" title={words.unsupported} text={words.unsupportedText} children={<ToNtfy />} />
  }
}

function Ringing({ told, device }: { told: Told | undefined; device: 'phone' | 'computer' }) {
  const own = told?.channels.find(({ isOwn, kind }) => isOwn && kind === 'web-push')
  const problem = ringingProblem.value
  const isBusy = isRingingBusy.value
  // Once it is registered the server knows one channel more.
  useEffect(() => {
    if (!isBusy) void told?.book.read()
  }, [isBusy, told?.book])
  return (
    <>
      {own && told ? (
        <Health told={told} channel={own} device={device} />
      ) : problem === 'push-service' ? (
        <State icon="bell-off" needs title={words.pushService} text={words.pushServiceText} children={<ToNtfy />} />
      ) : problem === 'server' ? (
        <State icon="bell-off" needs title={words.notRegistered} text={words.notRegisteredText} />
      ) : (
        <State icon="bell" title={words.registering[device]} text={words.registeringText} />
      )}
      <Button look="text" onClick={() => void turnOff()} busy={isBusy && words.turningOff}>
        {words.turnOff[device]}
      </Button>
    </>
  )
}

function Health({ told, channel, device }: { told: Told; channel: Channel; device: 'phone' | 'computer' }) {
  const { state, arrivals, last, cause } = healthOf(channel, now.value)
  const { sent, arrived, typicalMs, slowestMs } = channel.health
  const title = state === 'untried' ? words.untried : words[state][device]
  return (
    <>
      <State icon={state === 'reaching' ? 'check' : 'bell'} needs={state === 'missing'} title={title} text={lastWords(last, state)}>
        {arrivals.length > 0 && (
          <>
            <HealthBars arrivals={arrivals} />
            <dl class="stats">
              <Stat name={words.arrived} value={words.arrivedOf(arrived, sent)} />
              <Stat name={words.typical} value={typicalMs === null ? words.unknown : delayInWords(typicalMs)} />
              <Stat name={words.slowest} value={slowestMs === null ? words.unknown : delayInWords(slowestMs)} />
            </dl>
          </>
        )}
        <TestButton link={told.link} channel={channel} />
      </State>
      {cause && <Banner icon="triangle-alert" needs title={causeHere(cause)[0]} text={causeHere(cause)[1]} />}
    </>
  )
}

/** What stands on top of the page: how it is here, and what can be done about it. */
function State(props: { icon: IconName; needs?: boolean; title: string; text: string; children?: ComponentChildren }) {
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

function ToNtfy() {
  return (
    <ButtonLink look="quiet" href="/settings/notifications/ntfy" isWide>
      {words.useNtfy}
    </ButtonLink>
  )
}

function lastWords(last: Arrival | undefined, state: ChannelHealth['state']): string {
  if (last === undefined) return words.untriedText
  if (state === 'missing') return words.lastTwoMissed
  const when = agoInWords(last.at, now.value)
  if (last.has === 'missed') return words.lastMissed(when)
  return last.delayMs === null ? words.lastUntimed(when) : words.lastArrived(when, delayInWords(last.delayMs))
}

/** What probably holds them back here, and what to do about it. */
function causeHere(cause: MissCause): readonly [string, string] {
  if (cause === 'gone') return words.causesHere.gone
  if (cause !== 'held-back') return words.causesHere.others
  const at = browser()
  return words.causesHere[at === 'safari' ? 'computer' : at]
}

function browser(): 'android' | 'ios' | 'safari' | 'computer' {
  const { userAgent } = navigator
  if (/Android/.test(userAgent)) return 'android'
  if (isMobile()) return 'ios'
  return /Safari/.test(userAgent) && !/Chrom/.test(userAgent) ? 'safari' : 'computer'
}
