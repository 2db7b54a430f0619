import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words of the composer and of sent messages, in English. */
const english = {
  add: 'Add to the message',
  photo: 'Photo',
  file: 'File',
  paste: 'Paste',
  nothingToPaste: 'Nothing to paste: the clipboard has no text or image.',
  notPasted: 'Clipboard access was denied. Long-press the text field to paste.',
  command: 'Command',
  mention: 'Mention a file',
  drop: 'Drop files to add them',
  expand: 'Write in full screen',
  collapse: 'Write below the conversation',
  steerHint: 'Hold, or Alt Enter, to steer now',
  uploading: 'Sent as soon as the files are uploaded.',
  waking: (agent: string) => `Sent as soon as ${agent} is ready.`,

  attached: 'Added files',
  remove: (name: string) => `Remove ${name}`,
  reading: 'Reading',
  percent: (sent: number) => `${sent} %`,
  unfit: {
    'too-large': (name: string) => `${name} is larger than 10 MB`,
    'no-heic': (name: string) => `${name} could not be read: this browser does not open HEIC photos`,
    unreadable: (name: string) => `${name} could not be read`,
    empty: (name: string) => `${name} is empty`,
    away: (name: string) => `${name} could not be uploaded`
  },
  photoWaits: {
    wifi: (size: string) => `${size} photo, waiting for Wi-Fi`,
    word: (size: string) => `${size} photo, waiting for you to send it`
  },
  sendNow: 'Send now',
  others: (count: number) => plural(count, { one: 'The other one is attached.', other: `The other ${count} are attached.` }),
  loadPicture: (name: string, size: string) => `Show ${name}, ${size}`,
  noPicture: (name: string) => `${name} could not be shown`,

  waits: (count: number) => plural(count, { one: '1 waiting', other: `${count} waiting` }),
  waitsHint: 'read after this step',
  waitsHere: 'On this device',
  steer: 'Steer now',
  changing: 'Editing a waiting message',
  changedLate: 'Already picked up. This will be sent as a new message.',
  keepChange: 'Save change',
  moveUp: 'Move up',
  edit: 'Edit',
  withdraw: 'Withdraw',
  withdrawn: 'Withdrawn',

  commands: 'Commands',
  files: 'Files',

  actions: 'Message actions',
  copy: 'Copy text',
  again: 'Use as draft',
  stages: { stored: 'Stored', machine: (host: string) => `On ${host}`, read: (agent: string) => `Read by ${agent}` },
  notYet: 'not yet',
  unknownTime: 'before you opened it',
  steered: 'Steered',

  model: 'Model',
  effort: 'Effort',
  mode: 'Mode',
  fromNext: 'From the next step on.',
  rides: 'Applies with your next message.',
  applying: 'not set yet…',
  notChanged: (host: string) => `${host} could not change it.`,

  on: 'On',
  off: 'Off',
  usage: 'Account usage',
  window: (length: string, of: string | undefined) => (of === undefined ? length : `${length}, ${of}`),
  days: (count: number) => (count === 7 ? 'Week' : `${count} days`),
  hours: (count: number) => (count === 1 ? '1 hour' : `${count} hours`),
  used: (percent: string | undefined, resets: string | undefined) =>
    [percent && `${percent} used`, resets && `resets ${resets}`].filter(Boolean).join(', '),

  interrupt: 'Interrupt',
  interrupting: 'Interrupting',
  end: 'End process'
} as const

export type ComposeWords = Translated<typeof english>

export const compose = inLanguage('compose', english)
