import { askForKeyNextWeek } from '../model/account/account.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { settings } from '../words/settings.ts'

/** Asks whether the person still has the account key. Not in a warm colour: on Home that is reserved for waiting agents. */
export function KeyReminder() {
  return (
    <section class="card key-ask" aria-labelledby="key-ask-h">
      <Icon name="key-round" />
      <div>
        <h2 id="key-ask-h" class="card-h">
          {joining.key.ask}
        </h2>
        <p>{settings.keyDueText}</p>
      </div>
      <div class="acts">
        <ButtonLink look="quiet" href="/settings/account-key">
          {settings.keySettings.check}
        </ButtonLink>
        <Button look="text" onClick={() => void askForKeyNextWeek()}>
          {joining.key.askLater}
        </Button>
      </div>
    </section>
  )
}
