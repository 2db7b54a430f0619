import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')
const whole = new Intl.NumberFormat('en')

/** What the pages of the settings say, in English. */
const english = {
  on: 'On',
  off: 'Off',

  wrap: 'Wrap long lines of code',
  wrapHint: 'Off, code is moved sideways.',
  reading: 'Reading',
  sideBySide: 'Changes side by side',
  sideBySideHint: 'Where there is room for two columns. Off, old and new lines follow each other.',
  textSize: 'Text size',
  textSample: 'All 212 tests pass. The way back is kept.',
  textSizeHint: 'Follows the text size of this system or browser.',
  compact: 'Compact steps',
  compactHint: 'Changes and failures stay folded until you open them.',
  announces: 'Read out what comes',
  announcesHint: 'For screen readers, in an open session: what the agent says, and every 5 seconds what it does.',
  writing: 'Writing',
  enterSends: 'Enter sends',
  enterSendsHint: 'With a keyboard. Off, Enter begins a new line and Ctrl Enter sends.',

  language: 'Language',
  asBrowser: 'As the browser',
  languageHint: 'Afield starts anew in it. What you wrote stays.',

  notifications: 'Notifications',
  notificationsOn: 'On, on this device',
  notificationsOff: 'Off on this device',
  notificationsBlocked: 'Blocked on this device',

  lock: 'App lock',
  lockLead: 'Asks for the screen lock of this device: face, finger or code.',
  lockWhen: 'When',
  lockChoices: {
    off: ['Off', ''],
    open: ['Each time you open Afield', ''],
    after5: ['After 5 minutes away', ''],
    risky: ['For risky decisions only', 'Also before Full auto, before the account key is shown and before a device is unlinked.']
  },
  lockHonest:
    'It keeps out who picks up your unlocked device. It does not stop who knows its screen lock, who can read the files of this browser, or a program that runs in this page.',
  lockNone: 'This browser offers no screen lock here',
  lockNoneText: 'Set one up in the system, or use a browser that knows passkeys. It needs a name as address, not bare numbers.',
  lockRefused: 'Nothing was changed',
  lockRefusedText: 'The screen lock was not confirmed.',
  lockAsking: 'Asking',
  locked: 'Afield is locked',
  lockedText: 'Agents go on. Nothing of your account is shown.',
  unlock: 'Unlock',
  unlockKey: 'Use the account key instead',
  unlockKeyWrong: 'That is not the key of this account.',
  unlockFailed: 'That did not unlock it. Try again.',

  keyHint: 'Whoever holds this device can see it here. With App lock it asks first.',
  keySave: 'Save file',
  keyDue: 'Please check that you have it',
  keyDueText: 'Without it, and without another device, nobody can open this account again.',
  keyNext: (on: string) => `You are asked again on ${on}`,
  keySafe: 'You have shown that you have it',

  storage: 'Storage',
  here: 'On this device',
  hereSize: 'Kept by this browser',
  hereFree: 'Room left to it',
  herePersists: 'When the disk is full',
  persists: 'Stays',
  mayGo: 'May be cleared',
  unknownSize: 'Not known',
  there: 'On the server',
  thereSessions: 'Sessions',
  thereMessages: 'Messages',
  thereMessageBytes: 'Size of the messages',
  thereAttachments: 'Attachments',
  thereArtifacts: 'Notes of other apps',
  thereTogether: 'Together',
  thereState: 'Titles, states and settings',
  thereKept: 'Sessions that ended',
  thereKeptFor: (days: number | null) =>
    days === null ? 'Kept until deleted' : plural(days, { one: 'Removed after 1 day', other: `Removed after ${whole.format(days)} days` }),
  amounts: {
    number: (count: number) => whole.format(count),
    of: (amount: string, most: string | undefined) => (most === undefined ? amount : `${amount} of at most ${most}`)
  },
  thereUntold: 'This server does not tell how much it keeps, or for how long. A newer Afield server does.',
  thereListed: (sessions: number) =>
    plural(sessions, { one: 'It lists 1 session.', other: `It lists ${whole.format(sessions)} sessions.` }),
  lowData: 'Use less data',
  lowDataHint:
    'Pictures, last lines and what a start prints come only when you open them, and an agent’s words once they are whole. Photos above 1 MB wait for Wi-Fi, or until you send them.',
  exportAll: 'Export everything',
  exportText: 'All sessions, decrypted here, as one zip file with a page to read and a JSON file for each. Keep it where you keep secrets.',
  exporting: (done: number, all: number) => `Session ${done} of ${all}`,
  exportDone: 'The file is with your downloads.',
  exportPartly: (n: number) =>
    plural(n, {
      one: 'One session could not be opened with the keys on this device. It is named in the file.',
      other: `${n} sessions could not be opened with the keys on this device. They are named in the file.`
    }),
  exportFailed: 'The export stopped',
  exportFailedText: 'Nothing was saved. Check the link and try again.',
  exportStop: 'Stop',
  exportName: (on: string) => `afield-${on}.zip`,
  erase: 'Erase this device',
  eraseHint: 'Everything of Afield in this browser, settings and the app too',
  eraseTitle: 'Erase everything here?',
  eraseText: 'The account stays on the server and on your other devices.',
  eraseConfirm: 'Erase',
  erasing: 'Erasing',
  full: 'This device has no room left',
  serverFull: 'The server has no room',
  serverFullText: 'Agents keep working and hold their messages. Yours wait here.',
  fullText: 'Messages stay on the server. What is new is not kept here.',
  freeSpace: 'Free space',

  helpers: 'Helpers',
  helperOn: (version: string, host: string) => `${version} on ${host}`,
  licencesAll: 'All licences',
  diagnostics: 'Diagnostics',
  diagnosticsHint: 'Versions, states and counts. No names, no content, no keys.',
  diagnosticsCopy: 'Copy diagnostics',

  allSessions: (n: number) => `All ${whole.format(n)}`,
  deviceSince: (when: string) => `Signed in on ${when}`
} as const

export type SettingsWords = Translated<typeof english>

export const settings = inLanguage('settings', english)
