import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words about starting sessions, and about the daemon of a computer. In English. */
const english = {
  title: 'New session',
  what: 'What should it do?',
  whatHint: 'The first message. You can also start without one.',
  machine: 'Computer',
  ready: 'Ready',
  noDaemon: 'Cannot start here right now',
  whenBack: 'Offline. The start can wait.',
  startWhenBack: (host: string) => `Start when ${host} is back`,
  startWhenDaemon: 'Start when its daemon runs',
  startWhenYou: 'Start when you are online',
  startWaits: 'It waits on this device and starts automatically while Afield is open. You can withdraw it on Home.',
  notKnown: (host: string) => `This device does not know yet which agents ${host} has, so a start cannot wait for it.`,
  notKept: 'This device could not store it. Nothing is queued.',
  folder: 'Folder',
  chooseFolder: 'Choose a folder',
  agent: 'Agent',
  mode: 'Mode',
  asking: (host: string) => `Checking agents on ${host}`,
  noAgent: (host: string) => `No agent found on ${host}`,
  noAgentText: 'Install one there, such as Claude Code, then check again.',
  signInThere: 'Sign in on the computer',
  notThere: (host: string) => `Not installed on ${host}`,
  notThereText: 'Install it there:',
  branch: (name: string) => `on ${name}`,
  changes: (n: number) => plural(n, { one: '1 change', other: `${n} changes` }),
  notAllowed: 'Folder not allowed',
  notAllowedText: 'Allow it on the computer:',
  worktree: 'Own worktree',
  worktreeText: 'Works on a copy, on its own branch.',
  worktreeDirty: (n: number) =>
    plural(n, {
      one: 'Works on a copy, so your 1 change stays untouched.',
      other: `Works on a copy, so your ${n} changes stay untouched.`
    }),
  more: 'More',
  model: 'Model',
  modelOwn: 'Agent default',
  modelOther: 'Another model…',
  modelName: 'Model name',
  modelHint: 'As the agent names it. Empty: the default of the agent.',
  effort: 'Effort',
  efforts: { own: 'Agent default', low: 'Low', medium: 'Medium', high: 'High' },
  base: 'Base branch',
  firstFiles: 'Add photos or files',
  firstFilesNow: 'Files can only be sent with a session that starts now. Remove them to let the start wait.',
  firstFilesLost: 'The files were not added. Add them again.',
  baseHint: 'What the copy is based on. Empty: the current state of the folder.',
  keepsText: 'Your text stays here until then.',

  goOn: 'Continue a conversation',
  goOnText: 'One that you started without Afield',
  goOnTitle: 'Continue a conversation',
  search: 'Search conversations',
  searchDo: 'Search',
  searching: 'Searching',
  noneFound: 'No conversation contains these words.',
  noHistories: (host: string) => `No conversations were found on ${host}.`,
  notAll: 'Not everything could be searched in time.',
  inTerminal: 'Open in a terminal now',
  goingOn: 'Continuing',
  notGoneOn: 'It could not be continued',

  newFolder: 'New folder here',
  folderName: 'Folder name',
  makeFolder: 'Create folder',
  notMade: 'The folder could not be created',
  completions: 'Matching folders',
  start: (host: string) => `Start on ${host}`,
  startAuto: (host: string) => `Start in Full auto on ${host}`,
  starting: (agent: string, host: string) => `Starting ${agent} on ${host}`,
  startingHint: 'An agent may need half a minute to start.',
  offline: 'Full auto needs a live connection to start. Your text stays here.',

  notStarted: (agent: string) => `${agent} did not start`,
  trouble: {
    'not-connected': 'No connection. Nothing was sent.',
    away: (host: string) => `${host} is offline. Nothing was started.`,
    'no-answer': (host: string) => `${host} did not respond in time. It may still start: check Home before you try again.`,
    astray: (host: string) =>
      `The response from ${host} belongs to something else. Either it runs an older version of Afield, or the server changed something in transit.`,
    unreadable: (host: string) => `This app cannot read the response from ${host}.`
  },
  showLines: (host: string) => `Show output from ${host}`,
  lastLines: (host: string) => `Output from ${host}`,
  openMachine: 'Open computer',
  tryAgain: 'Try again',

  makeTitle: 'Create this folder?',
  makeText: (host: string) => `It does not exist yet. ${host} will create it and start the agent in it.`,
  make: 'Create and start',
  cancel: 'Cancel',

  recent: 'Recent',
  browse: 'Browse',
  path: 'Or type a path',
  pathHint: 'A folder that does not exist yet can be created.',
  use: 'Use this folder',
  useTyped: 'Use this path',
  up: 'One folder up',
  reading: 'Loading the folder',
  noFolders: 'No folders in here.',
  notRead: 'This folder cannot be shown',
  notAsked: (host: string) => `Could not check agents on ${host}`,

  awayTitle: (host: string) => `The daemon on ${host} is not running`,
  wakeText: ['Wake the computer. If it is awake, run ', 'afield daemon start', ' there.'] as const,
  awayText: ['Run ', 'afield daemon start', ' there once. Then you can start sessions from here.'] as const,

  daemon: 'Daemon',
  daemonRuns: 'Running',
  daemonSince: (when: string) => `Running since ${when}`,
  daemonGone: 'Not running',
  folders: 'Recent folders',
  startHere: 'Start a session here',
  startIn: (folder: string) => `Start a session in ${folder}`,
  stopDaemon: 'Stop daemon',
  stopTitle: (host: string) => `Stop the daemon on ${host}?`,
  stopText: ['Running agents continue. You cannot start sessions from a phone until ', 'afield daemon start', ' is run there.'] as const,
  stopping: 'Stopping',
  stopFailed: (host: string) => `${host} could not stop it`,
  stopFailedText: 'The daemon is still running.'
}

export type StartWords = Translated<typeof english>

export const start = inLanguage('start', english)
