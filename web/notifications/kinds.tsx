import { useEffect, useState } from 'preact/hooks'
import { lockChoice } from '../core/lock.ts'
import { isMobile } from '../model/notifications/device-notifications.ts'
import type { NotificationContext, NotificationSettings } from '../model/notifications/notifications.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { notifications as words } from '../words/notifications.ts'
import { chooseMayAllow, mayAllowInNotification, readMayAllow } from './allow-in-notification.ts'

const kinds = ['decision', 'finished', 'failed', 'machine'] as const
const hows = ['sound', 'silent', 'off'] as const

/** Which kinds of events notify, and with sound or without. */
export function NotificationKinds({ settings, book }: NotificationContext) {
  return (
    <section class="grp">
      <h2>{words.tellWhen}</h2>
      <div class="card tight">
        {kinds.map(kind => (
          <label key={kind} class="irow">
            <span>
              <b>{words.kinds[kind][0]}</b>
              <small>{words.kinds[kind][1]}</small>
            </span>
            <div class="fld">
              <select
                value={settings[kind]}
                onChange={({ currentTarget: { value } }) => {
                  const how = hows.find(each => each === value)
                  if (how) void book.change(() => changeOf(kind, how))
                }}
              >
                {hows
                  .filter(how => kind !== 'decision' || how !== 'off')
                  .map(how => (
                    <option key={how} value={how} selected={settings[kind] === how}>
                      {words.how[how]}
                    </option>
                  ))}
              </select>
            </div>
          </label>
        ))}
      </div>
    </section>
  )
}

function changeOf(kind: (typeof kinds)[number], how: (typeof hows)[number]): Partial<NotificationSettings> {
  if (kind !== 'decision') return { [kind]: how }
  return how === 'off' ? {} : { decision: how }
}

/** What a notification shows of a request, and what can be done from it. */
export function InTheNotification({ settings, book }: NotificationContext) {
  const [isAsking, setAsking] = useState(false)
  const isLocked = lockChoice.value !== 'off'
  const hasPreviews = settings.previews && !isLocked
  const mayAllow = mayAllowInNotification.value && hasPreviews
  useEffect(() => {
    // A choice that cannot be read counts as off.
    readMayAllow().catch(() => {})
  }, [])
  const flipAllow = () => (mayAllow ? void chooseMayAllow(false) : setAsking(true))
  return (
    <section class="grp">
      <h2>{words.lockScreen}</h2>
      <div class="card tight">
        <OffSwitch
          title={words.previews}
          text={isLocked ? words.previewsLocked : words.previewsHint}
          isOn={hasPreviews}
          isOff={isLocked}
          onFlip={() => void book.change(({ previews }) => ({ previews: !previews }))}
        />
        <OffSwitch
          title={words.allowOnce}
          text={hasPreviews ? words.allowOnceHint : words.allowOnceNeeds}
          isOn={mayAllow}
          isOff={!hasPreviews}
          onFlip={flipAllow}
        />
      </div>
      {isAsking && (
        <Sheet title={words.allowOnceTitle} onClose={() => setAsking(false)}>
          <p class="lead danger-t">{words.allowOnceText[isMobile() ? 'phone' : 'computer']}</p>
          <Button
            look="danger"
            isLarge
            isWide
            onClick={() => {
              void chooseMayAllow(true)
              closeLayer()
            }}
          >
            {words.allowOnceConfirm}
          </Button>
        </Sheet>
      )}
    </section>
  )
}

/** A switch that is disabled while something else is missing. */
function OffSwitch(props: { title: string; text: string; isOn: boolean; isOff: boolean; onFlip(): void }) {
  return (
    <label class="irow">
      <span>
        <b>{props.title}</b>
        <small>{props.text}</small>
      </span>
      <input
        class="switch"
        type="checkbox"
        role="switch"
        checked={props.isOn}
        aria-checked={props.isOn}
        disabled={props.isOff}
        onChange={props.onFlip}
      />
    </label>
  )
}

const minutes = [0, 1, 2, 3, 4, 5]

/** How long the app counts as in use after the last touch. */
export function InUseMinutes({ settings, book }: NotificationContext) {
  return (
    <fieldset class="picks">
      <legend>{words.watched}</legend>
      {minutes.map(each => (
        <label key={each} class="pick">
          <input
            type="radio"
            name="watched"
            checked={settings.watchedMinutes === each}
            onChange={() => void book.change(() => ({ watchedMinutes: each }))}
          />
          <span>{words.watchedFor(each)}</span>
        </label>
      ))}
      <p class="hint">{words.watchedHint}</p>
    </fieldset>
  )
}
