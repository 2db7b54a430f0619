import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')
const whole = new Intl.NumberFormat('en')

/** Words of the settings pages, in English. */
const english = {
  on: 'On',
  off: 'Off',

  wrap: 'Wrap long lines of code',
  wrapHint: 'When off, code scrolls sideways.',
  reading: 'Reading',
  sideBySide: 'Changes side by side',
  sideBySideHint: 'Where two columns fit. When off, new lines follow the old ones.',
  textSize: 'Text size',
  textSample: 'All 212 tests pass. The redirect is kept.',
  textSizeHint: 'Follows the text size of your system or browser.',
  compact: 'Compact steps',
  compactHint: 'Changes and failures stay folded until you open them.',
  announces: 'Read out new content',
  announcesHint: 'For screen readers, in an open session: what the agent says and, every 5 seconds, what it does.',
  writing: 'Writing',
  enterSends: 'Enter sends',
  enterSendsHint: 'With a keyboard. When off, Enter starts a new line and Ctrl Enter sends.',

  language: 'Language',
  asBrowser: 'Same as browser',
  languageHint: 'Afield will reload. Your drafts are kept.',

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
    risky: ['For risky decisions only', 'Also before Full auto, showing the account key and unlinking a device.']
  },
  lockHonest:
    'It stops someone who picks up your unlocked device. It does not stop anyone who knows its screen lock or can read the files of this browser, or code running in this page.',
  lockNone: 'This browser offers no screen lock here',
  lockNoneText: 'Set one up in the system, or use a browser that supports passkeys. The address must be a host name, not an IP address.',
  lockRefused: 'Nothing was changed',
  lockRefusedText: 'The screen lock was not confirmed.',
  lockAsking: 'Waiting for confirmation',

  keyHint: 'Anyone holding this device can see it here. With App lock on, they have to unlock it first.',
  keySave: 'Save file',
  keyDue: 'Please check that you have it',
  keyDueText: 'Without it or another device, no one can open this account again.',
  keyNext: (on: string) => `You will be asked again on ${on}`,
  keySafe: 'You confirmed that you have it',

  storage: 'Storage',
  here: 'On this device',
  hereSize: 'Used by Afield',
  hereFree: 'Space available',
  herePersists: 'When the disk is full',
  persists: 'Data is kept',
  mayGo: 'Data may be cleared',
  unknownSize: 'Unknown',
  there: 'On the server',
  thereSessions: 'Sessions',
  thereMessages: 'Messages',
  thereMessageBytes: 'Size of the messages',
  thereAttachments: 'Attachments',
  thereArtifacts: 'Artifacts of other apps',
  thereTogether: 'Total',
  thereState: 'Titles, states and settings',
  thereKept: 'Ended sessions',
  thereKeptFor: (days: number | null) =>
    days === null ? 'Kept until deleted' : plural(days, { one: 'Removed after 1 day', other: `Removed after ${whole.format(days)} days` }),
  amounts: {
    number: (count: number) => whole.format(count),
    of: (amount: string, most: string | undefined) => (most === undefined ? amount : `${amount} of at most ${most}`)
  },
  thereUntold: 'This server does not report its storage use or retention. A newer version does.',
  thereListed: (sessions: number) =>
    plural(sessions, { one: 'It lists 1 session.', other: `It lists ${whole.format(sessions)} sessions.` }),
  lowData: 'Use less data',
  lowDataHint:
    'Images, last lines and startup output load only when you open them, and agent messages once they are complete. Photos above 1 MB wait for Wi-Fi, or until you send them.',
  exportAll: 'Export everything',
  exportText: 'All sessions, decrypted, in one zip file with a readable page and a JSON file for each. Store it safely.',
  exporting: (done: number, all: number) => `Session ${done} of ${all}`,
  exportDone: 'The file is in your downloads.',
  exportPartly: (n: number) =>
    plural(n, {
      one: 'One session could not be decrypted with the keys on this device. It is listed in the file.',
      other: `${n} sessions could not be decrypted with the keys on this device. They are listed in the file.`
    }),
  exportFailed: 'The export stopped',
  exportFailedText: 'Nothing was saved. Check the connection and try again.',
  exportStop: 'Stop',
  exportName: (on: string) => `afield-${on}.zip`,
  erase: 'Erase this device',
  eraseHint: 'All Afield data in this browser, including settings and the app',
  eraseTitle: 'Erase everything here?',
  eraseText: 'The account stays on the server and on your other devices.',
  eraseConfirm: 'Erase',
  erasing: 'Erasing',

  daemons: 'On your computers',
  daemonOn: (version: string, host: string) => `${version} on ${host}`,
  licencesAll: 'All licenses',
  diagnostics: 'Diagnostics',
  diagnosticsHint: 'Versions, states and counts. No names, content or keys.',
  diagnosticsCopy: 'Copy diagnostics',

  deviceSince: (when: string) => `Signed in on ${when}`,

  page: {
    title: 'Settings',
    account: 'Account',
    key: 'Account key',
    keyUnchecked: 'Not checked yet',
    keyChecked: (on: string) => `Checked on ${on}`,
    devices: 'Devices',
    devicesValue: 'Signed in to this account',
    server: 'This server',
    app: 'This app',
    appearance: 'Appearance',
    about: 'About',
    signOut: 'Sign out',
    signOutHint: 'Removes everything from this device',
    signOutTitle: 'Sign out of this device?',
    signOutText: 'This removes sessions and the account key from it. To return, you need your account key or another device.',
    signOutUnchecked: 'You have not checked your account key. Without it, and without another device, this account is lost forever.',
    signOutConfirm: 'Sign out',
    signingOut: 'Signing out',
    checkFirst: 'Check my key first'
  },

  keySettings: {
    lead: 'Anyone who has it can read everything. It is the only way back if you lose every device.',
    show: 'Show the key',
    hide: 'Hide the key',
    check: 'Check my key',
    checkAgain: 'Check again'
  },

  devices: {
    title: 'Devices',
    loading: 'Loading devices',
    failed: 'The list could not be loaded',
    failedText: 'Nothing was changed.',
    add: 'Add a device or computer',
    addComputer: 'A computer with agents',
    addComputerText: 'Run this there, then open the address it shows or scan its code.',
    addDevice: 'A phone, tablet or another browser',
    addDeviceText: (address: string) => `Open ${address} there, tap “Link with an existing device”, and scan the code it shows.`,
    this: 'This device',
    kinds: { account: 'Signed in with the account key', terminal: 'Computer with agents', device: 'Linked with another device' },
    unnamed: { account: 'A device with the account key', terminal: 'A computer', device: 'A linked device' },
    seen: (when: string) => `Last seen ${when}`,
    unlink: 'Unlink',
    unlinkTitle: (name: string) => `Unlink ${name}?`,
    unlinkDevice: 'It is signed out and disconnected at once. It may still hold the account key: create a new account if it was stolen.',
    unlinkTerminal:
      'It is signed out and disconnected at once, and can no longer read or run anything for you. Sessions stay on your devices.',
    unlinking: 'Unlinking',
    unlinkFailed: 'It could not be unlinked'
  },

  appearance: {
    title: 'Appearance',
    theme: 'Colors',
    system: 'Same as system',
    light: 'Light',
    dark: 'Dark',
    confirm: 'Confirming',
    hold: 'Hold to confirm',
    holdHint: 'Keep the button pressed for a second',
    taps: 'Two taps',
    tapsHint: 'The second button names the action and appears after a moment'
  },

  about: {
    title: 'About',
    app: 'App',
    server: 'Server',
    lead: 'Everything your agents say is encrypted between your computers and your devices. This server stores and forwards data that it cannot read.',
    licences: 'Licenses',
    licencesText: 'Afield is free software under the MIT license. Icons by Lucide, ISC.',
    storage:
      'Data on this device is encrypted with a key that the browser does not export. That does not stop someone who can unlock this device.'
  }
} as const

export type SettingsWords = Translated<typeof english>

export const settings = inLanguage('settings', english)
