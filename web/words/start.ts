import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** What is said where sessions begin and where a machine's helper is spoken of, in English. */
const english = {
  title: 'New session',
  what: 'What should it do?',
  whatHint: 'The first message. You can also start without one.',
  machine: 'Machine',
  ready: 'Ready',
  noHelper: 'Cannot be started from here now',
  whenBack: 'Away. It can wait for it here.',
  startWhenBack: (host: string) => `Start when ${host} is back`,
  startWhenHelper: 'Start when its helper runs',
  startWhenYou: 'Start when you are back',
  startWaits: 'It waits on this device and begins by itself while Afield is open. You can take it back on Home.',
  notKnown: (host: string) => `This device does not know yet which agents ${host} has, so nothing can wait for it.`,
  notKept: 'This device could not keep it. Nothing waits.',
  folder: 'Folder',
  chooseFolder: 'Choose a folder',
  agent: 'Agent',
  mode: 'Mode',
  asking: (host: string) => `Asking ${host} what it has`,
  noAgent: (host: string) => `No agent found on ${host}`,
  noAgentText: 'Install one there, such as Claude Code, and look again.',
  signInThere: 'Sign in on the machine',
  notThere: (host: string) => `Not on ${host}`,
  notThereText: 'Install it there:',
  branch: (name: string) => `on ${name}`,
  changes: (n: number) => plural(n, { one: '1 change', other: `${n} changes` }),
  notAllowed: 'Not allowed from here',
  notAllowedText: 'Allow on the machine:',
  worktree: 'Own worktree',
  worktreeText: 'Works on a copy, on a branch of its own.',
  worktreeDirty: (n: number) =>
    plural(n, {
      one: 'Works on a copy, so your 1 change stays untouched.',
      other: `Works on a copy, so your ${n} changes stay untouched.`
    }),
  more: 'More',
  model: 'Model',
  modelOwn: 'Chosen by the agent',
  modelOther: 'Another model…',
  modelName: 'Name of the model',
  modelHint: 'As the agent names it. Empty: its own choice.',
  effort: 'Effort',
  efforts: { own: 'Its own choice', low: 'Low', medium: 'Medium', high: 'High' },
  base: 'Base branch',
  firstFiles: 'Add photos or files',
  firstFilesNow: 'Files go only with a session that begins now. Remove them to let it wait.',
  firstFilesLost: 'The files were not added. Add them again.',
  baseHint: 'Where the copy begins. Empty: where the folder is now.',
  keepsText: 'What you wrote stays here until then.',

  goOn: 'Continue a conversation',
  goOnText: 'One that you began with the plain agent',
  goOnTitle: 'Continue a conversation',
  search: 'Search in them',
  searchDo: 'Search',
  searching: 'Searching',
  noneFound: 'No conversation has these words.',
  noHistories: (host: string) => `No conversations were found on ${host}.`,
  notAll: 'Not everything could be searched in time.',
  inTerminal: 'Open in its terminal now',
  goingOn: 'Going on with it',
  notGoneOn: 'It was not gone on with',

  newFolder: 'New folder here',
  folderName: 'Name of the folder',
  makeFolder: 'Make folder',
  notMade: 'The folder was not made',
  completions: 'Folders that begin so',
  start: (host: string) => `Start on ${host}`,
  startAuto: (host: string) => `Start in Full auto on ${host}`,
  starting: (agent: string, host: string) => `Starting ${agent} on ${host}`,
  startingHint: 'An agent may need half a minute to come up.',
  offline: 'Full auto begins on a live link only. What you wrote stays here.',

  notStarted: (agent: string) => `${agent} did not start`,
  trouble: {
    'not-connected': 'There is no link. Nothing was sent.',
    away: (host: string) => `${host} is not there to take it. Nothing was started.`,
    'no-answer': (host: string) => `${host} did not answer in time. It may still start: look at Home before you try again.`,
    astray: (host: string) =>
      `What came back is not the answer of ${host} to this. Either an older Afield runs there now, or the server changed something on the way.`,
    unreadable: (host: string) => `${host} answered something this app cannot read.`
  },
  showLines: (host: string) => `Show what ${host} says`,
  lastLines: (host: string) => `What ${host} says`,
  openMachine: 'Open machine',
  tryAgain: 'Try again',

  makeTitle: 'Make this folder?',
  makeText: (host: string) => `It is not there yet. ${host} makes it, empty, and starts the agent in it.`,
  make: 'Make it and start',
  cancel: 'Cancel',

  recent: 'Recent',
  browse: 'Browse',
  path: 'Or type a path',
  pathHint: 'A folder that is not there yet can be made.',
  use: 'Use this folder',
  useTyped: 'Use this path',
  up: 'One folder up',
  reading: 'Reading the folder',
  noFolders: 'No folders in here.',
  notRead: 'This folder cannot be shown',
  notAsked: (host: string) => `${host} could not be asked what it has`,

  awayTitle: (host: string) => `The helper of ${host} is not running`,
  wakeText: ['Wake it, or, if it is awake, run ', 'afield daemon start', ' there.'] as const,
  awayText: ['Run ', 'afield daemon start', ' there once, and sessions can begin from here.'] as const,

  helper: 'Helper',
  helperRuns: 'Running',
  helperSince: (when: string) => `Running since ${when}`,
  helperGone: 'Not running',
  folders: 'Recent folders',
  startHere: 'Start a session here',
  startIn: (folder: string) => `Start a session in ${folder}`,
  stopHelper: 'Stop the helper',
  stopTitle: (host: string) => `Stop the helper of ${host}?`,
  stopText: ['Agents that run go on. Until somebody runs ', 'afield daemon start', ' there, no session can begin from a phone.'] as const,
  stopping: 'Stopping',
  stopFailed: (host: string) => `${host} did not do it`,
  stopFailedText: 'The helper still runs.'
}

export type StartWords = Translated<typeof english>

export const start = inLanguage('start', english)
