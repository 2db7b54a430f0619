import { inLanguage, locale, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words of the session screen, in English. Functions take the parameters of a sentence; counts are numbers. */
const english = {
  notifications: 'Notifications',
  back: 'Back to all sessions',
  menu: 'Session menu',
  filesHere: 'Files',
  untitled: 'A session that cannot be decrypted here',
  on: (agent: string, host: string | undefined) => (host === undefined ? agent : `${agent} on ${host}`),
  live: (host: string) => `${host} is connected`,
  conversation: 'Conversation',
  today: 'Today',
  yesterday: 'Yesterday',
  foldWriting: 'Back to the decision',
  older: 'Older messages',
  loadingOlder: 'Loading older messages',
  olderFailed: 'Older messages could not be loaded.',
  tryAgain: 'Try again',
  newBelow: (count: number) => `${count} new`,
  toLatest: 'Go to the latest',
  emptyTitle: (agent: string, folder: string) => `Tell ${agent} what to do in ${folder}.`,
  emptyHint: 'It works on the computer. You follow along here, and it asks before anything important.',
  loading: 'Opening the session',
  stored: 'Stored',
  storedAt: (time: string) => `Stored, ${time}`,
  storedNotReached: (host: string) => `Stored, not yet on ${host}`,
  onMachine: (host: string) => `On ${host}`,
  readBy: (agent: string) => `Read by ${agent}`,
  readByAt: (agent: string, time: string) => `Read by ${agent}, ${time}`,
  onDevice: 'On this device, waiting for a connection',
  sending: 'Sending',
  notDelivered: 'Not delivered.',
  edit: 'Edit',
  discard: 'Discard',
  fromTerminal: 'Typed in the terminal',
  fromDecision: 'Sent with your decision',
  showAll: 'Show all',
  showLess: 'Show less',
  showAllLines: (count: number) => `All ${count.toLocaleString(locale())} lines`,
  showLastLines: (shown: number, count: number) => `Last ${shown.toLocaleString(locale())} of ${count.toLocaleString(locale())} lines`,
  copy: 'Copy',
  code: 'code',
  wrapLines: 'Wrap long lines',
  command: 'command',
  call: 'call',
  imageFrom: (host: string) => `Image from ${host}`,
  file: (name: string, size: string) => `${name}, ${size}`,
  skipped: {
    unreadable: (count: number) =>
      plural(count, {
        one: 'This message cannot be decrypted with the keys on this device. Your other devices have the same keys. What the agent said is still on the computer.',
        other: `${count} messages cannot be decrypted with the keys on this device. Your other devices have the same keys. What the agent said is still on the computer.`
      }),
    'unknown-shape': (count: number) =>
      plural(count, {
        one: 'This app does not support this kind of message yet.',
        other: `${count} messages are of a kind this app does not support yet.`
      })
  },
  fault: {
    missing: (count: number) =>
      plural(count, {
        one: 'A message is missing here. The server lost or withheld it.',
        other: `${count} messages are missing here. The server lost or withheld them.`
      }),
    late: () => 'This message arrived after later ones. The server changed the order.',
    repeated: () => 'A repeated message was dropped here. The server sent it again.',
    'call-astray': () => 'A request was rejected: it was made for something else. The server, or someone in between, changed it.',
    'call-repeated': () => 'A request was rejected: it had been made before. The server, or someone in between, replayed it.',
    'call-nameless': () =>
      'A request was rejected: it does not say what it is for, as requests from this app do. Is an older version open somewhere?',
    'call-late': () =>
      'An earlier choice arrived after a later one from the same device and was rejected. The server, or someone in between, changed the order.',
    'message-repeated': () => 'Your computer dropped a repeated message. The server, or someone in between, replayed it.',
    'message-astray': () => 'Your computer dropped a message for another session. The server, or someone in between, moved it here.',
    'message-nameless': () =>
      'Your computer dropped a message that does not say who sent it. Reload the older app and send it again. For a Happy app, start a new session.',
    'message-late': () =>
      'A message from you reached your computer after later ones. The server, or someone in between, changed the order.',
    'message-missing': (count: number) =>
      plural(count, {
        one: 'A message sent to this session did not reach your computer. The server lost or withheld it.',
        other: `${count} messages sent to this session did not reach your computer. The server lost or withheld them.`
      })
  },
  turn: { cancelled: 'Stopped', failed: (agent: string) => `${agent} could not finish this` },
  cut: (agent: string) => `Cut off here: ${agent} did not finish this.`,
  limit: 'Usage limit reached.',
  limitUntil: (time: string) => `Usage limit reached. It resets at ${time}.`,
  limitWaits: 'The session is safe and will wait.',
  limitFree: (host: string, agents: string) => `Until then, you can use ${agents} on ${host}.`,
  limitNew: 'New session',
  goOnThen: 'Continue then',
  goesOn: (time: string) => `Continues at ${time} if Afield is open on this device, otherwise when you open it.`,
  goOnNot: 'Cancel',
  goOnText: 'Continue.',
  control: { terminal: 'Continued in the terminal', app: 'Continued here' },

  thought: 'Thought',
  thoughtFor: (took: string) => `Thought for ${took}`,
  thinks: 'Thinking',
  looked: 'Looked around',
  lookedMeta: (steps: number, took: string) => `${steps} steps, ${took}`,
  plan: 'Plan',
  planMeta: (done: number, all: number) => `${done} of ${all}`,
  showPlan: 'Show the plan',
  planDone: 'done',
  task: 'Task',
  planNow: 'now',
  planOpen: 'open',
  found: (hits: number, files: number) =>
    `${plural(hits, { one: '1 match', other: `${hits} matches` })}, ${plural(files, { one: '1 file', other: `${files} files` })}`,
  linesRead: (first: number, last: number) => (first === last ? `line ${first}` : `lines ${first}–${last}`),
  openFile: 'Open file',
  moreHits: (count: number) => plural(count, { one: '1 more line', other: `${count} more lines` }),
  moreFiles: (count: number) => plural(count, { one: '1 more file', other: `${count} more files` }),
  step: {
    read: { running: 'Reading', done: 'Read', wants: 'Wants to read' },
    search: { running: 'Searching', done: 'Searched', wants: 'Wants to search' },
    edit: { running: 'Editing', done: 'Edited', wants: 'Wants to edit' },
    write: { running: 'Writing', done: 'Wrote', wants: 'Wants to write' },
    delete: { running: 'Deleting', done: 'Deleted', wants: 'Wants to delete' },
    move: { running: 'Moving', done: 'Moved', wants: 'Wants to move' },
    execute: { running: 'Running', done: 'Ran', wants: 'Wants to run' },
    fetch: { running: 'Fetching', done: 'Fetched', wants: 'Wants to fetch' },
    think: { running: 'Thinking', done: 'Thought', wants: 'Wants to think' },
    plan: { running: 'Planning', done: 'Planned', wants: 'Wants to go ahead with' },
    agent: { running: 'Subagent', done: 'Subagent', wants: 'Subagent' },
    other: { running: 'Using', done: 'Used', wants: 'Wants to use' }
  },
  /** Before the object of a step that did not finish. */
  stoppedStep: 'Stopped',
  deniedStep: 'Denied',
  files: (count: number) => `${count} files`,
  stepFailed: 'failed',
  stepStopped: 'stopped',
  stepDenied: 'denied',
  stepBelow: 'below',
  subagent: 'Subagent',
  subagentAll: 'All its steps',
  subagentBack: 'Back to the session',
  subagentBegins: 'It has done nothing yet.',
  subagentNotHere: 'Its steps are further back. Load older messages in the session first.',
  innerSteps: (count: number) => plural(count, { one: '1 step', other: `${count} steps` }),
  exit: (code: number) => `exit ${code}`,
  newFile: 'New',
  deletedFile: 'Deleted',
  added: (count: number) => plural(count, { one: '1 line added', other: `${count} lines added` }),
  removed: (count: number) => plural(count, { one: '1 line removed', other: `${count} lines removed` }),
  unchanged: (count: number) => plural(count, { one: '1 unchanged line', other: `${count} unchanged lines` }),
  tooLargeToShow: (lines: number) => `Too large to show here. ${new Intl.NumberFormat('en').format(lines)} lines.`,
  loadAnyway: 'Load anyway',
  lastLines: (count: number) => plural(count, { one: 'Output, last line', other: `Output, last ${count} lines` }),

  answeredOn: (by: string) => `Answered ${place(by)}`,
  outcome: {
    'allowed-once': { me: 'Allowed once by you', other: (by: string) => `Allowed once ${place(by)}`, unknown: 'Allowed once' },
    'allowed-session': {
      me: 'Allowed by you for this session',
      other: (by: string) => `Allowed for this session ${place(by)}`,
      unknown: 'Allowed for this session'
    },
    denied: { me: 'Denied by you', other: (by: string) => `Denied ${place(by)}`, unknown: 'Denied' },
    stopped: { me: 'Denied by you, and stopped', other: (by: string) => `Denied and stopped ${place(by)}`, unknown: 'Denied, and stopped' },
    ended: { me: 'Ended without an answer', other: () => 'Ended without an answer', unknown: 'Ended without an answer' }
  },
  at: (what: string, time: string) => `${what}, ${time}`,

  works: 'Working',
  modelSilent: (took: string) => `No response from the model for ${took}`,
  modelRefused: {
    overloaded: 'The model is overloaded',
    limit: 'Too many requests',
    'sign-in': 'The agent is not signed in',
    unreachable: 'The model cannot be reached',
    other: 'The model rejected the request'
  },
  triesAgain: 'It retries automatically',
  attempt: (count: number, of: number | undefined) => (of === undefined ? `Attempt ${count}` : `Attempt ${count} of ${of}`),
  nextAttempt: (attempt: string, left: string) => `${attempt}, next in ${left}`,
  writes: 'Writing',
  waitsForYou: 'Waiting for your decision',
  stepOf: (step: number, all: number) => `step ${step} of ${all}`,
  contextUsed: (percent: number) => `${percent} %`,
  contextUsedLong: 'of the context used',
  stop: 'Stop the agent',
  stopping: 'Stopping',
  stillRunning: 'Still running',
  stopAgain: 'Try again',
  stopFailed: (host: string) => `Could not reach ${host} to stop it.`,
  endProcess: 'End agent',

  placeholder: {
    idle: (agent: string) => `Message ${agent}`,
    working: 'Add a message, read after this step',
    quiet: 'Delivered when the agent is back',
    resumes: 'Send a message to resume',
    away: (host: string) => `Waiting for ${host}`,
    unlinked: (host: string) => `Delivered when ${host} is linked again`,
    terminal: 'Add a message'
  },
  message: 'Message the agent',
  send: 'Send',
  queue: 'Queue message',
  queued: (count: number) =>
    plural(count, { one: '1 message queued until this turn ends', other: `${count} messages queued until this turn ends` }),
  notKept: 'This device could not store your message. Nothing was sent.',

  awayTitle: (host: string) => `${host} is offline`,
  unlinkedTitle: (host: string) => `${host} is no longer linked`,
  unlinkedText: (host: string) => `The session is safe and stays here to read. To continue it, link ${host} again.`,
  linkAgain: 'Link it again',
  awaySince: (time: string) => `Since ${time}. Messages are delivered when it is back.`,
  disk: {
    full: {
      title: (host: string) => `The disk on ${host} is full`,
      text: (agent: string) => `Free some space there and ${agent} continues automatically. Until then its output waits.`
    },
    failing: {
      title: (host: string) => `Cannot write to the disk on ${host}`,
      text: (agent: string) => `Check it there. Output from ${agent} waits until it can be stored.`
    }
  },
  endedTitle: (agent: string) => `${agent} ended`,
  endedExit: (code: number, time: string) => `${time}. Exit ${code}. The session is safe.`,
  endedBy: (signal: string, time: string) => `${time}. Ended by ${signal}. The session is safe.`,
  endedMemory: (time: string) => `${time}. Exit 137, probably out of memory. The session is safe.`,
  endedHint: (time: string) => `${time}. The session is safe and stays here to read.`,
  resume: 'Resume',
  resuming: 'Resuming',
  notResumed: (agent: string) => `${agent} could not be resumed`,
  keptText: 'Your messages are kept for it.',
  startingTitle: (agent: string, host: string) => `Starting ${agent} on ${host}`,
  deletedTitle: 'This session was deleted',
  deletedAt: (time: string) => `This session was deleted, ${time}`,
  deletedOn: (device: string, time: string) => `This session was deleted on ${device}, ${time}`,
  deletedHint: 'The server keeps nothing of it.',
  unknownTitle: 'Session not found',
  unknownHint: 'It may belong to another account, or the address is incomplete.',
  sealedTitle: 'This session cannot be decrypted here',
  sealedHint: 'Its keys are not on this device. Sign in with the account that it belongs to.',
  compromisedTitle: 'The key of this session is marked as compromised',
  compromisedHint: 'Others may be able to read it. A fork uses a new key.',
  stateClosedTitle: (agent: string) => `This request from ${agent} cannot be decrypted`,
  stateClosedHint: (host: string) =>
    `This device does not have its key, or this app does not support its format yet. Decide on ${host}, or reload the app.`,
  otherKeyTitle: 'The key of this session does not match',
  otherKeyText: (agent: string, host: string) =>
    `${agent} on ${host} encrypts with a key that this device does not have, and could not read what you write. Nothing is sent. Start a new session.`,
  terminalTitle: (host: string) => `Open in the terminal on ${host}`,
  terminalHint: 'You can follow along and decide.',
  takeOver: 'Take over',
  takingOver: 'Taking over',
  takeOverTitle: 'Something is still running there',
  takeOverText: (agent: string, host: string) => `Taking over ends ${agent} in the terminal on ${host}, and what it is running:`,
  leaveThere: 'Leave it there',
  takeOverFailed: (host: string) => `${host} did not hand it over. Try again when the agent pauses.`,

  needs: 'Needs your decision',
  planNeeds: (agent: string) => `${agent} has a plan`,
  ask: {
    execute: 'Run this command?',
    edit: (file: string) => `Edit ${file}?`,
    write: (file: string) => `Write ${file}?`,
    editMany: (count: number) => `Edit ${count} files?`,
    delete: (file: string) => `Delete ${file}?`,
    move: (file: string) => `Move ${file}?`,
    read: (file: string) => `Read ${file}?`,
    search: 'Search here?',
    fetch: (host: string) => `Fetch from ${host}?`,
    plan: 'Go ahead with this?',
    other: (what: string) => `Use ${what}?`
  },
  card: {
    execute: 'Run a command',
    fetch: 'Fetch a page',
    plan: 'A plan to review',
    other: (what: string) => `Use ${what}`,
    review: 'Review'
  },
  oneOf: (index: number, all: number) => `${index} of ${all}`,
  nextRequest: 'Next decision',
  wholeCommand: 'The whole command',
  inFolder: (path: string) => `in ${path}`,
  why: 'Why this is risky',
  reasonOf: (agent: string) => `${agent}’s reason`,
  risk: {
    deletes: ['Deletes files', 'without asking again'],
    'rewrites-history': ['Rewrites history', 'that others may have'],
    discards: ['Throws away changes', 'that are not committed'],
    'admin-rights': ['Uses admin rights', 'on the computer'],
    'runs-download': ['Runs what it downloads', 'without anyone reading it first'],
    'runs-edited': ['Runs what this agent changed', 'in this session'],
    overwrites: ['May overwrite files', ''],
    'overwrites-disk': ['Writes to a disk directly', 'and can destroy what is on it'],
    permissions: ['Changes who may use files', 'for many files at once'],
    secrets: ['Touches keys or secrets', 'such as passwords and tokens'],
    production: ['Reaches production', 'or publishes something'],
    database: ['Deletes from a database', ''],
    infrastructure: ['Changes running systems', ''],
    hidden: ['Contains hidden characters', 'shown here as their codes'],
    shortened: ['Only a part is shown', 'the rest is on the computer'],
    unparsable: ['Cannot be analyzed reliably', 'so it counts as risky'],
    network: ['Reaches the network', ''],
    installs: ['Installs packages', 'which may run their own scripts'],
    outside: ['Leaves the folder', 'of this session'],
    'many-files': ['Changes many files', '']
  },
  justOnce: 'Just this once.',
  justOnceWhy: 'Risky commands are never allowed for longer.',
  howLong: 'For how long',
  scope: { once: 'Once', session: 'This session' },
  allow: { once: 'Allow once', session: 'Allow this session' },
  grants: {
    allow: { session: (what: string) => `Allow ${what} this session`, always: (what: string) => `Always allow ${what}` },
    outcome: (says: string, what: string) => `${says}: ${what}`,
    edits: 'all edits',
    everything: 'everything',
    files: (of: string) => (of === '' ? 'edits to these files' : `edits to ${of}`),
    commands: (of: string) => (of === '' ? 'this command' : of),
    folders: (of: string) => `work in ${of}`,
    rights: 'these rights',
    this: 'this',
    and: ', '
  },
  fromNowOn: 'From now on',
  deny: 'Deny…',
  hold: 'Hold to run once',
  tap: 'Run once',
  tapOther: 'Allow once',
  holdOther: 'Hold to allow once',
  confirm: {
    execute: (command: string) => `Confirm: run ${command} once`,
    edit: (file: string) => `Confirm: edit ${file} once`,
    write: (file: string) => `Confirm: write ${file} once`,
    editMany: (count: number) => `Confirm: edit ${count} files once`,
    delete: (file: string) => `Confirm: delete ${file} once`,
    move: (file: string) => `Confirm: move ${file} once`,
    read: (file: string) => `Confirm: read ${file} once`,
    search: 'Confirm: search here once',
    fetch: (host: string) => `Confirm: fetch from ${host} once`,
    plan: 'Confirm: go ahead with this once',
    other: (what: string) => `Confirm: use ${what} once`
  },
  readOn: 'Keep reading',
  nothingRuns: 'Nothing runs until you decide.',
  waited: (agent: string, time: string) => `${agent} has waited ${time}.`,
  stillOpen: 'Checking if this is still open',
  needsLink: 'A risky decision needs a live connection.',
  denyTitle: { execute: 'Deny this command', other: 'Deny this' },
  denyReason: 'Why, or what to do instead',
  denyHint: (agent: string) => `Sent to ${agent}, if it accepts a reason.`,
  denyGoOn: 'Deny, continue',
  denyStop: 'Deny and stop',
  keepOpen: 'Back',
  answer: 'Send answer',
  choose: 'Choose one',
  close: 'Close',

  mode: 'Mode',
  modeAndModel: 'Mode and model',
  modeTitle: (agent: string) => `How ${agent} works`,
  modeLegend: 'Mode, from the next step on',
  modeFailed: (host: string) => `${host} could not change the mode.`,
  modes: {
    ask: ['Ask first', 'Reads freely. Asks before edits and commands.'],
    edit: ['Edit freely', 'Edits inside the folder. Asks before commands.'],
    plan: ['Plan only', 'Reads and thinks. Changes nothing.'],
    auto: ['Full auto', 'Never asks.']
  },
  /** Additional modes of agents behind Happy's wrapper. */
  happyModes: {
    auto: ['Agent decides', 'Works in the folder, and asks when it thinks it should.'],
    inside: ['Folder only', 'Never asks. Cannot leave the folder.'],
    harmless: ['Ask before changes', 'Asks only before edits and commands.']
  },
  fullAutoTitle: 'Full auto never asks',
  fullAutoHint: 'Commands and edits run without you until you change the mode or the agent ends. After a resume it asks first.',
  fullAutoYes: 'Use Full auto',
  lockRefused: 'Nothing was changed: the screen lock was not confirmed.',
  cancel: 'Cancel',

  info: 'Session info',
  stopAgent: 'End agent',
  stopAgentTitle: (agent: string) => `End ${agent}?`,
  stopAgentHint: 'Its current work is interrupted. The session stays here to read.',
  stopAgentFailed: (host: string) => `${host} could not end it.`,
  facts: {
    folder: 'Folder',
    branch: 'Branch',
    machine: 'Computer',
    agent: 'Agent',
    version: 'Version',
    process: 'Process',
    id: 'Session ID'
  }
} as const

export type SessionWords = Translated<typeof english>

export const session = inLanguage('session', english)

// The wrapper's own names for a person at the terminal, and for a timeout; all others are device names.
function place(by: string): string {
  if (by === 'nobody') return 'because nobody answered'
  return by === 'the terminal' ? 'in the terminal' : `on ${by}`
}

export type RiskName = keyof typeof session.risk
