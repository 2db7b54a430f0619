import type { NotificationBook, Reading, Saving } from '../model/notifications/notifications.ts'
import { Problem } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { words as app } from '../words/index.ts'
import { notifications as words } from '../words/notifications.ts'

/** Whether the choice is being saved or was saved, in a word. */
export function SaveState({ book }: { book: NotificationBook | undefined }) {
  const word = savingWord(book?.saving.value)
  return (
    <span class={word === words.unsavedShort ? 'danger-t' : ''} role="status">
      {word}
    </span>
  )
}

/** Why the choice is not in effect. */
export function Unsaved({ book }: { book: NotificationBook }) {
  switch (book.saving.value) {
    case 'unreached':
      return (
        <section class="form">
          <Problem title={words.unsaved} text={words.unsavedText} />
          <Again onClick={() => void book.again()} />
        </section>
      )
    case 'refused':
      return (
        <section class="form">
          <Problem title={words.refused} text={words.refusedText} />
          <Again onClick={() => void book.again()} />
        </section>
      )
    case 'no-device':
      return <Problem title={words.noDevice} text={words.noDeviceText} />
    default:
      return null
  }
}

/** Why the settings cannot be shown. */
export function Unread({ type, again }: { type: Reading['type'] | undefined; again(): void }) {
  switch (type) {
    case 'unreached':
      return (
        <>
          <Problem title={words.unread} text={words.unreadText} />
          <Again onClick={again} />
        </>
      )
    case 'unsupported':
      return <Problem title={words.untold} text={words.untoldText} />
    default:
      return (
        <p class="lead" role="status">
          {words.reading}
        </p>
      )
  }
}

function Again({ onClick }: { onClick(): void }) {
  return (
    <Button look="quiet" onClick={onClick}>
      {app.tryAgain}
    </Button>
  )
}

function savingWord(saving: Saving | undefined): string {
  switch (saving) {
    case undefined:
    case 'nothing':
      return ''
    case 'saving':
      return words.saving
    case 'saved':
      return words.saved
    case 'unreached':
    case 'refused':
    case 'no-device':
      return words.unsavedShort
  }
}
