import { useEffect } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { healthOf } from '../model/notifications/channel-health.ts'
import {
  areNotificationsChanging,
  areNotificationsOn,
  isMobile,
  notificationProblem,
  reach,
  turnOff,
  turnOn
} from '../model/notifications/device-notifications.ts'
import type { Channel, NotificationContext } from '../model/notifications/notifications.ts'
import { Banner } from '../ui/banner.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { alerts } from '../words/alerts.ts'
import { notifications as words } from '../words/notifications.ts'
import { browser, causeHere } from './cause-here.ts'
import { HealthCard, State } from './health.tsx'

/** Whether notifications are on for this device, and what to do if they cannot be. */
export function ThisDevice({ context }: { context: NotificationContext | undefined }) {
  const device = isMobile() ? 'phone' : 'computer'
  if (areNotificationsOn.value) return <WhenOn context={context} device={device} />
  switch (reach.value) {
    case 'granted':
    case 'undetermined':
      return (
        <State icon="bell" title={words.off[device]} text={words.offText[device]}>
          <Button
            look="primary"
            icon="bell-ring"
            isWide
            onClick={() => void turnOn()}
            busy={areNotificationsChanging.value && words.turningOn}
          >
            {alerts.turnOn}
          </Button>
        </State>
      )
    case 'denied':
      return <State icon="bell-off" needs title={alerts.deniedTitle} text={words.deniedSteps[browser()]} />
    case 'needs-home-screen':
      return <State icon="square-plus" title={alerts.homeScreenTitle} text={alerts.homeScreenText} />
    case 'insecure':
      return <State icon="bell-off" title={words.insecure} text={words.insecureText} children={<ToNtfy />} />
    case 'unsupported':
      return <State icon="bell-off" title={words.unsupported} text={words.unsupportedText} children={<ToNtfy />} />
  }
}

function WhenOn({ context, device }: { context: NotificationContext | undefined; device: 'phone' | 'computer' }) {
  const own = context?.channels.find(({ isOwn, kind }) => isOwn && kind === 'web-push')
  const problem = notificationProblem.value
  const isBusy = areNotificationsChanging.value
  // Once this device is registered, the server lists one more channel.
  useEffect(() => {
    if (!isBusy) void context?.book.read()
  }, [isBusy, context?.book])
  return (
    <>
      {own && context ? (
        <Health context={context} channel={own} device={device} />
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

function Health({ context, channel, device }: { context: NotificationContext; channel: Channel; device: 'phone' | 'computer' }) {
  const { state, cause } = healthOf(channel, now.value)
  return (
    <>
      <HealthCard link={context.link} channel={channel} title={state === 'untried' ? words.untried : words[state][device]} />
      {cause && <Banner icon="triangle-alert" needs title={causeHere(cause)[0]} text={causeHere(cause)[1]} />}
    </>
  )
}

function ToNtfy() {
  return (
    <ButtonLink look="quiet" href="/settings/notifications/ntfy" isWide>
      {words.useNtfy}
    </ButtonLink>
  )
}
