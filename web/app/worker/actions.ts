import * as v from '../../../lib/schema.ts'
import '../../core/notification-routes.ts'
import { notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import type { PushWords } from '../../words/push.ts'
import { type AnswerOutcome, type Given, giveAnswer } from './answer.ts'
import type { Known, WorkerDevice } from './device.ts'
import { type About, outcomeOf } from './notification.ts'

interface Around {
  readonly worker: Pick<ServiceWorkerGlobalScope, 'registration'>
  readonly known: Known
  readonly words: PushWords
}

interface Tapped {
  readonly notification: Pick<Notification, 'title' | 'tag' | 'close'>
  readonly about: About
  readonly action: string
  readonly reply: string
}

const hourMs = 3600_000

/** Performs the action of a button, and shows the outcome in the notification. False if the app has to be opened for it. */
export async function act({ worker, known, words }: Around, { notification, about, action, reply }: Tapped): Promise<boolean> {
  const { title, tag } = notification
  const say = (text: string) => {
    const { title: same, options } = outcomeOf(title, tag, about, text)
    return worker.registration.showNotification(same, options)
  }
  const { device, choices } = known
  const given = givenBy(action, reply)
  // On a locked device, notifications can be read but not answered.
  if (!device || choices.isLocked || (given?.action === 'allow' && !choices.mayAllow)) {
    notification.close()
    return false
  }
  if (action === 'snooze') await say((await snooze(device)) ? words.snoozed : words.notSnoozed)
  else if (given) {
    await say(words.sending)
    await say(wordsFor(await giveAnswer(device, about, given), given, words))
  }
  return true
}

function givenBy(action: string, text: string): Given | undefined {
  if (action === 'reply') return { action, text }
  return action === 'allow' || action === 'deny' ? { action } : undefined
}

function wordsFor(outcome: AnswerOutcome, { action }: Given, words: PushWords): string {
  return outcome === 'applied' ? words.applied[action] : words[outcome]
}

/** The other settings of this device stay as they are. */
async function snooze({ rest }: WorkerDevice): Promise<boolean> {
  try {
    const { settings } = await rest.call('readNotifications', {})
    const snoozed = { ...(settings ?? v.parse(notificationSettings, {})), snoozedUntil: Date.now() + hourMs }
    await rest.call('writeNotifications', { body: { settings: snoozed } })
    return true
  } catch {
    return false
  }
}
