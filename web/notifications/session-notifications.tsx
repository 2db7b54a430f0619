import { useEffect } from 'preact/hooks'
import { live } from '../model/account/account.ts'
import { notificationsOf } from '../model/notifications/notifications.ts'
import type { SessionFacts } from '../model/session/facts.ts'
import { Choice } from '../ui/choice.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { notifications as words } from '../words/notifications.ts'
import { SaveState, Unread, Unsaved } from './save-state.tsx'

const choices = ['all', 'decisions', 'off'] as const

/** Which notifications of one session this device gets. */
export function SessionNotifications({ facts: { id }, onClose }: { facts: SessionFacts; onClose(): void }) {
  const link = live.value
  const book = link && notificationsOf(link)
  useEffect(() => {
    void book?.read()
  }, [book])
  const reading = book?.reading.value
  const choose = (choice: (typeof choices)[number]) =>
    void book?.change(({ sessions: { [id]: _, ...others } }) => ({ sessions: choice === 'all' ? others : { ...others, [id]: choice } }))
  return (
    <Sheet title={words.sessionTitle} onClose={onClose}>
      {book && <Unsaved book={book} />}
      {reading?.type === 'loaded' ? (
        <div class="card tight" role="radiogroup" aria-label={words.sessionTitle}>
          {choices.map(choice => (
            <Choice
              key={choice}
              name="session-notifications"
              title={words.sessionChoices[choice]}
              isChosen={(reading.settings.sessions[id] ?? 'all') === choice}
              onChoose={() => choose(choice)}
            />
          ))}
        </div>
      ) : (
        <Unread type={reading?.type} again={() => void book?.read()} />
      )}
      <p class="hint">
        {words.sessionHint} <SaveState book={book} />
      </p>
    </Sheet>
  )
}
