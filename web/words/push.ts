import type { Translated } from './language.ts'

/** Words of push notifications, in English. The service worker shows them; it contains both languages and chooses one each time. */
export const push = {
  asks: {
    execute: 'Run a command?',
    edit: 'Change files?',
    delete: 'Delete files?',
    move: 'Move files?',
    read: 'Read files?',
    search: 'Search?',
    fetch: 'Fetch a page?',
    think: 'Continue?',
    plan: 'Start the plan?',
    other: 'Use a tool?'
  },
  about: (what: string, session: string) => `${what} ${session}`,
  risky: 'Risky, open to decide',
  unreadable: 'An agent needs you',
  open: 'Open',
  deny: 'Deny',
  allow: 'Allow once',
  reply: 'Answer',
  replyHint: 'Your answer',
  snooze: 'Snooze 1 h',
  sending: 'Sending',
  applied: { deny: 'Applied: denied', allow: 'Applied: allowed once', reply: 'Applied: answered' },
  sent: 'Sent. Open to see the result.',
  unanswered: 'No answer from the server. Open to see the result.',
  undelivered: 'Could not deliver, open',
  offline: 'Could not deliver: no connection. Open to try again.',
  changed: 'Nothing was sent: this request changed or was closed. Open to see.',
  several: 'Nothing was sent: several requests are open. Open to decide.',
  snoozed: 'No notifications for an hour',
  notSnoozed: 'Could not snooze, open'
}

export type PushWords = Translated<typeof push>
