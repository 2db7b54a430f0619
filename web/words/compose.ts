import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** What is said where a person writes, and of what was written, in English. */
const english = {
  add: 'Add to the message',
  photo: 'Photo',
  file: 'File',
  paste: 'Paste',
  nothingToPaste: 'Nothing to paste: no words and no picture were copied.',
  notPasted: 'The clipboard was not let out. Press long on the text field to paste.',
  command: 'Command',
  mention: 'Mention a file',
  drop: 'Drop files to add them',
  expand: 'Write on the whole screen',
  collapse: 'Write below the conversation',
  steerHint: 'Hold, or Alt Enter, to steer now',
  uploading: 'Leaves as soon as the files are there.',
  waking: (agent: string) => `Leaves as soon as ${agent} is there.`,

  attached: 'Added files',
  remove: (name: string) => `Remove ${name}`,
  reading: 'Reading',
  percent: (sent: number) => `${sent} %`,
  unfit: {
    'too-large': (name: string) => `${name} has more than 10 MB`,
    'no-heic': (name: string) => `${name} could not be read: this browser does not open HEIC photos`,
    unreadable: (name: string) => `${name} could not be read`,
    empty: (name: string) => `${name} is empty`,
    away: (name: string) => `${name} did not reach the server`
  },
  photoWaits: {
    wifi: (size: string) => `Photo of ${size} waits for Wi-Fi`,
    word: (size: string) => `Photo of ${size} waits until you send it`
  },
  sendNow: 'Send now',
  others: (count: number) => plural(count, { one: 'The other one is attached.', other: `The other ${count} are attached.` }),
  loadPicture: (name: string, size: string) => `Show ${name}, ${size}`,
  noPicture: (name: string) => `${name} could not be shown`,

  waits: (count: number) => plural(count, { one: '1 waiting', other: `${count} waiting` }),
  waitsHint: 'read after this step',
  waitsHere: 'On this device',
  steer: 'Steer now',
  changing: 'Changing a waiting message',
  changedLate: 'It waits no more. This leaves as a new message.',
  keepChange: 'Save the change',
  moveUp: 'Move up',
  edit: 'Edit',
  withdraw: 'Withdraw',
  withdrawn: 'Withdrawn',

  commands: 'Commands',
  files: 'Files',

  actions: 'Message actions',
  copy: 'Copy text',
  again: 'Write again',
  stages: { stored: 'Stored', machine: (host: string) => `On ${host}`, read: (agent: string) => `Read by ${agent}` },
  notYet: 'not yet',
  unknownTime: 'before you looked',
  steered: 'Steered',

  model: 'Model',
  effort: 'Effort',
  mode: 'Mode',
  fromNext: 'From the next step on.',
  rides: 'Goes with your next message.',
  applying: 'not set yet…',
  notChanged: (host: string) => `${host} did not change it.`,

  on: 'On',
  off: 'Off',
  usage: 'Usage of its account',
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
