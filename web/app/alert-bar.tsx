import { go } from '../core/router.ts'
import { readPath } from '../core/routes.ts'
import { hideAlert, shownAlert } from '../model/notifications/alerts.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { alerts as words } from '../words/alerts.ts'

/** Shows in the app, for a moment, what a notification would have shown. */
export function AlertBar() {
  const alert = shownAlert.value
  if (!alert) return null
  const open = () => {
    hideAlert()
    go(readPath(alert.path))
  }
  return (
    <section class="alert-bar" role="alert">
      <Icon name="bell" />
      <button class="said" type="button" onClick={open}>
        <b>{alert.title}</b>
        {alert.body !== '' && <span>{alert.body}</span>}
      </button>
      <button class="ib" type="button" onClick={hideAlert} aria-label={words.close}>
        <Icon name="x" />
      </button>
    </section>
  )
}
