import {
  areNotificationsChanging,
  dismissPrompt,
  type Reach,
  reach,
  shouldAsk,
  turnOn
} from '../model/notifications/device-notifications.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { alerts as words } from '../words/alerts.ts'

/** Asks before the browser does, which asks only once. Not in a warm colour: on Home that is reserved for waiting agents. */
export function PermissionPrompt() {
  if (!shouldAsk.value) return null
  const { title, text } = sayings()
  return (
    <section class="card key-ask" aria-labelledby="ring-ask-h">
      <Icon name={icons[reach.value] ?? 'bell'} />
      <div>
        <h2 id="ring-ask-h" class="card-h">
          {title}
        </h2>
        <p>{text}</p>
      </div>
      <div class="acts">
        <Ways />
      </div>
    </section>
  )
}

const icons: Partial<Record<Reach, IconName>> = { denied: 'bell-off', 'needs-home-screen': 'square-plus' }

function sayings(): { title: string; text: string } {
  switch (reach.value) {
    case 'denied':
      return { title: words.deniedTitle, text: words.deniedText }
    case 'needs-home-screen':
      return { title: words.homeScreenTitle, text: words.homeScreenText }
    default:
      return { title: words.askTitle, text: words.askText }
  }
}

function Ways() {
  switch (reach.value) {
    case 'denied':
      return (
        <>
          <Button look="text" onClick={dismissPrompt}>
            {words.gotIt}
          </Button>
          <ButtonLink look="quiet" href="/settings/notifications">
            {words.deniedSee}
          </ButtonLink>
        </>
      )
    case 'needs-home-screen':
      return (
        <Button look="quiet" onClick={dismissPrompt}>
          {words.gotIt}
        </Button>
      )
    default:
      return (
        <>
          <Button look="text" onClick={dismissPrompt}>
            {words.notNow}
          </Button>
          <Button look="quiet" onClick={() => void turnOn()} busy={areNotificationsChanging.value && words.turnOn}>
            {words.turnOn}
          </Button>
        </>
      )
  }
}
