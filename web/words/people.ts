import { inLanguage, type Translated } from './language.ts'

/** What is said where people, devices and programs are let in, in English. */
const english = {
  title: 'People',
  value: 'Who may have an account here',
  loading: 'Asking the server',
  failed: 'The list could not be read',
  failedText: 'Nothing was changed.',
  notOwner: 'Only the owner of this server lets people in',
  notOwnerText: 'That is whoever made the first account here.',

  waiting: 'Wait to be let in',
  nobody: 'Nobody waits.',
  compare: 'Let somebody in only if they read you the same four words.',
  from: (client: string, address: string) => (client === '' ? `From ${address}` : `${client}, from ${address}`),
  asked: (when: string) => `Asked ${when}`,
  approve: 'Let in',
  reject: 'Turn away',
  deciding: 'Telling the server',
  letIn: 'Let in. They can go on now.',
  turnedAway: 'Turned away',
  notDone: 'That did not work',
  notDoneText: 'They may have stopped waiting.',

  invites: 'Invitations',
  noInvites: 'No invitation is open.',
  invite: 'Invite somebody',
  inviteTitle: 'Invite somebody',
  inviteText: 'The link makes one account, within 24 hours. Whoever has it first can use it.',
  label: 'For whom',
  labelHint: 'Only you see this.',
  make: 'Make the link',
  making: 'Making the link',
  linkReady: 'Here is the link',
  linkOnce: 'It is shown this once. Send it to one person, or let them scan it.',
  qr: 'The link as a code to scan',
  copyLink: 'Copy the link',
  unnamed: 'An invitation',
  states: { unused: 'Not used yet', open: 'Being used now', used: 'Used', over: 'Its day has passed' },
  until: (state: string, when: string) => `${state}, good until ${when}`,
  revoke: 'Revoke',
  forget: 'Forget',

  rename: 'Rename',
  renameTitle: 'Rename this device',
  name: 'Name',
  save: 'Save',
  saving: 'Saving',
  legacy: 'Signs in the older way: its token stays good until it is unlinked',
  seenFrom: (seen: string, from: string) => (from === '' ? seen : `${seen}, from ${from}`),

  decided: 'Decisions on this device',
  decidedLead: (device: string) => `What was decided on ${device}, as the machines have kept it.`,
  unknownDevice: 'a device that is not linked any more',
  decidedNone: 'Nothing was decided here',
  decidedNoneText: 'What somebody allows or denies on it is listed here.',
  decidedAs: {
    allowed: (when: string) => `Allowed ${when}`,
    denied: (when: string) => `Denied ${when}`,
    ended: (when: string) => `Ended ${when}`
  },
  decidedRule: (rule: string) => `from now on: ${rule}`,
  decidedAway: (host: string) => `${host} did not answer, so what was decided for it is missing here.`,
  decidedUntold: (host: string) => `What was decided for ${host} cannot be seen: its helper is not running.`,

  access: 'Access keys',
  accessValue: 'For programs of your own',
  accessLead: 'A key lets a program work for your account. It can open nothing that is sealed: for that it needs the account key too.',
  noKeys: 'No program has a key.',
  newKey: 'Make a key',
  keyName: 'Name of the program',
  keyNameHint: 'So that you know what stops when you revoke it.',
  may: 'It may',
  scopes: {
    read: ['Read', 'what the account has, sealed as it is'],
    write: ['Write', 'messages, sessions and machines'],
    call: ['Call', 'what sessions and machines can do'],
    manage: ['Manage', 'who gets in: sign-ins, keys, the account itself']
  },
  ends: 'Good for',
  endings: { month: '30 days', year: 'A year', never: 'Until revoked' },
  makingKey: 'Making the key',
  keyReady: 'Here is the key',
  keyOnce: 'It is shown this once. Whoever has it can do all of the above.',
  copyKey: 'Copy the key',
  neverUsed: 'Never used',
  used: (when: string, from: string) => (from === '' ? `Used ${when}` : `Used ${when}, from ${from}`),
  endsOn: (on: string) => `ends on ${on}`,
  revokeTitle: (name: string) => `Revoke the key of ${name}?`,
  revokeText: 'Its connections close now, and it can do nothing more.',
  revoking: 'Revoking'
} as const

export type PeopleWords = Translated<typeof english>

export const people = inLanguage('people', english)
