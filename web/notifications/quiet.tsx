import { useId, useState } from 'preact/hooks'
import type { NotificationContext, NotificationSettings } from '../model/notifications/notifications.ts'
import { Choice, ChoiceGroup, Switch } from '../ui/choice.tsx'
import { notifications as words } from '../words/notifications.ts'
import { days, keepWords, weekdayName } from './quiet-words.ts'

type Quiet = NonNullable<NotificationSettings['quiet']>

const usual: Quiet = { from: '22:30', to: '07:00', days: [1, 2, 3, 4, 5, 6, 7], keep: 'decisions', collectAt: '07:00' }

/** When this device gets no notifications, on which days, and which still get through. */
export function QuietHours({ settings: { quiet }, book }: NotificationContext) {
  const [last, setLast] = useState(usual)
  const flip = () => {
    if (quiet) setLast(quiet)
    void book.change(() => ({ quiet: quiet ? null : last }))
  }
  const set = (change: Partial<Quiet>) => void book.change(now => ({ quiet: { ...(now.quiet ?? last), ...change } }))
  return (
    <>
      <div class="card tight">
        <Switch title={words.quietOn} text={words.quietOnHint} isOn={quiet !== null} onFlip={flip} />
      </div>
      {quiet && (
        <>
          <div class="picks">
            <Time label={words.from} value={quiet.from} onChoose={from => set({ from })} />
            <Time label={words.to} value={quiet.to} onChoose={to => set({ to })} />
          </div>
          <Days chosen={quiet.days} onChoose={chosen => set({ days: chosen })} />
          <ChoiceGroup id="keep-h" title={words.keepHeading}>
            {(['decisions', 'nothing', 'collect'] as const).map(keep => (
              <Choice
                key={keep}
                name="keep"
                title={keepWords(quiet, keep)}
                text={words.keepHint[keep]}
                isChosen={quiet.keep === keep}
                onChoose={() => set({ keep })}
              />
            ))}
          </ChoiceGroup>
          {quiet.keep === 'collect' && <Time label={words.collectAt} value={quiet.collectAt} onChoose={collectAt => set({ collectAt })} />}
        </>
      )}
    </>
  )
}

function Time({ label, value, onChoose }: { label: string; value: string; onChoose(value: string): void }) {
  const id = useId()
  return (
    <div class="fld">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="time"
        required
        value={value}
        onChange={({ currentTarget: { value: chosen } }) => /^\d\d:\d\d$/.test(chosen) && onChoose(chosen)}
      />
    </div>
  )
}

function Days({ chosen, onChoose }: { chosen: readonly number[]; onChoose(days: number[]): void }) {
  const [lacksOne, setLacksOne] = useState(false)
  const flip = (day: number) => {
    const next = days.filter(each => (each === day ? !chosen.includes(day) : chosen.includes(each)))
    setLacksOne(next.length === 0)
    if (next.length > 0) onChoose(next)
  }
  return (
    <fieldset class="picks">
      <legend>{words.days}</legend>
      {days.map(day => (
        <label key={day} class="pick" title={weekdayName(day, 'long')}>
          <input type="checkbox" aria-label={weekdayName(day, 'long')} checked={chosen.includes(day)} onChange={() => flip(day)} />
          <span>{weekdayName(day, 'short')}</span>
        </label>
      ))}
      <p class="hint" role="status">
        {lacksOne && words.dayNeeded}
      </p>
    </fieldset>
  )
}
