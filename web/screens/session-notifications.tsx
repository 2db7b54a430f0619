import { useEffect } from 'preact/hooks'
import { Choice } from '../parts/choice.tsx'
import { SavingWord, Unread, Unsaved } from '../parts/notification-saving.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { live } from '../state/account.ts'
import { notificationsOf } from '../state/notifications.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import { notifications as words } from '../words/notifications.ts'

const choices = ['all', 'decisions', 'off'] as const

/** Which notices of one session come to this device. */
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
      {reading?.type === 'told' ? (
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
        {words.sessionHint} <SavingWord book={book} />
      </p>
    </Sheet>
  )
}
