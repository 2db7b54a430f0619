import { inLanguage, type Translated } from './language.ts'

/** Words about admitting people, devices and programs, in English. */
const english = {
  title: 'People',
  value: 'Who can have an account here',
  loading: 'Loading people',
  failed: 'The list could not be loaded',
  failedText: 'Nothing was changed.',
  notOwner: 'Only the server owner can admit people',
  notOwnerText: 'The owner created the first account here.',

  waiting: 'Waiting for approval',
  nobody: 'No one is waiting.',
  compare: 'Approve a request only if the person reads you the same four words.',
  from: (client: string, address: string) => (client === '' ? `From ${address}` : `${client}, from ${address}`),
  asked: (when: string) => `Asked ${when}`,
  approve: 'Approve',
  reject: 'Reject',
  deciding: 'Saving',
  letIn: 'Approved. They can continue now.',
  turnedAway: 'Rejected',
  notDone: 'That did not work',
  notDoneText: 'They may have stopped waiting.',

  invites: 'Invitations',
  noInvites: 'No open invitations.',
  invite: 'Invite someone',
  inviteTitle: 'Invite someone',
  inviteText: 'The link creates one account and expires after 24 hours. The first person to use it gets the account.',
  label: 'For whom',
  labelHint: 'Only you see this.',
  make: 'Create link',
  making: 'Creating link',
  linkReady: 'Invitation link',
  linkOnce: 'It is shown only once. Send it to one person, or let them scan it.',
  qr: 'The link as a code to scan',
  copyLink: 'Copy link',
  unnamed: 'Invitation',
  states: { unused: 'Not used yet', open: 'Being used now', used: 'Used', over: 'Expired' },
  until: (state: string, when: string) => `${state}, valid until ${when}`,
  revoke: 'Revoke',
  forget: 'Remove',

  rename: 'Rename',
  renameTitle: 'Rename this device',
  name: 'Name',
  save: 'Save',
  saving: 'Saving',
  legacy: 'Legacy sign-in: its token is valid until the device is unlinked',
  seenFrom: (seen: string, from: string) => (from === '' ? seen : `${seen}, from ${from}`),

  decided: 'Decisions on this device',
  decidedLead: (device: string) => `Decisions made on ${device}, as recorded by your computers.`,
  unknownDevice: 'a device that is no longer linked',
  decidedNone: 'No decisions here yet',
  decidedNoneText: 'Whatever is allowed or denied on this device is listed here.',
  decidedAs: {
    allowed: (when: string) => `Allowed ${when}`,
    denied: (when: string) => `Denied ${when}`,
    ended: (when: string) => `Ended ${when}`
  },
  decidedRule: (rule: string) => `from now on: ${rule}`,
  decidedAway: (host: string) => `${host} did not respond, so its decisions are missing here.`,
  decidedUntold: (host: string) => `Decisions for ${host} are not available: its daemon is not running.`,

  access: 'Access keys',
  accessValue: 'For programs of your own',
  accessLead: 'A key lets a program act for your account. It cannot decrypt anything: that also takes the account key.',
  noKeys: 'No access keys yet.',
  newKey: 'Create access key',
  keyName: 'Name of the program',
  keyNameHint: 'So that you know what stops working when you revoke it.',
  may: 'Permissions',
  scopes: {
    read: ['Read', 'account data, still encrypted'],
    write: ['Write', 'messages, sessions and computers'],
    call: ['Call', 'methods of sessions and computers'],
    manage: ['Manage', 'sign-ins, access keys and the account itself']
  },
  ends: 'Valid for',
  endings: { month: '30 days', year: 'A year', never: 'Until revoked' },
  makingKey: 'Creating access key',
  keyReady: 'Access key',
  keyOnce: 'It is shown only once. Anyone who has it can do all of the above.',
  copyKey: 'Copy key',
  neverUsed: 'Never used',
  used: (when: string, from: string) => (from === '' ? `Used ${when}` : `Used ${when}, from ${from}`),
  endsOn: (on: string) => `expires on ${on}`,
  revokeTitle: (name: string) => `Revoke the key of ${name}?`,
  revokeText: 'It is disconnected at once and can no longer use your account.',
  revoking: 'Revoking'
} as const

export type PeopleWords = Translated<typeof english>

export const people = inLanguage('people', english)
