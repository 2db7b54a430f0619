import { inLanguage, type Translated } from './language.ts'

/** Words of the prompt for notifications, and of in-app alerts, in English. */
const english = {
  alert: {
    permission: 'An agent needs your decision',
    question: 'An agent has a question',
    done: 'An agent has finished',
    error: 'An agent ran into an error',
    failed: 'A session stopped',
    silent: 'An agent has gone quiet'
  },
  open: 'Open',
  close: 'Close',

  askTitle: 'Hear from agents when they are stuck',
  askText: 'You choose which events notify you, and which make a sound.',
  turnOn: 'Turn on',
  notNow: 'Not now',
  homeScreenTitle: 'Add Afield to your Home Screen',
  homeScreenText: 'iOS delivers notifications only to apps on the Home Screen: tap Share, then Add to Home Screen.',
  deniedTitle: 'Notifications are blocked for this site',
  deniedText: 'Settings explains how to allow them.',
  deniedSee: 'See how',
  gotIt: 'Got it'
}

export type AlertWords = Translated<typeof english>
export const alerts = inLanguage('alerts', english)
