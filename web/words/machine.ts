import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** What is said of one machine: what runs and lies on it, and how its helper is looked after. In English. */
const english = {
  pid: (pid: number) => `process ${pid}`,
  age: (long: string) => `up ${long}`,
  stop: 'Stop',
  stopOf: (title: string) => `Stop ${title}`,
  stopTitle: (title: string) => `Stop “${title}”?`,
  stopText: 'Its agent ends, with all that it started. The conversation stays, and a message resumes it.',
  leftOver: 'Left over',
  leftOverHint: 'A process whose session is no more. It still takes memory, and may still change files.',
  end: 'End',
  endOf: (title: string) => `End ${title}`,
  endTitle: (title: string) => `End what is left of ${title}?`,
  endText: 'It ends with all that it started. No session needs it any more.',
  ending: 'Ending',
  notEnded: 'It did not end',

  agents: 'Agents',
  noAgents: 'No agent was found here.',
  signedIn: 'Signed in',
  signedOut: 'Not signed in',
  signInWith: 'Sign in on the machine',
  notHere: 'Not installed',
  installWith: 'Install it there:',
  version: {
    unknown: (version: string) => `Version ${version}`,
    tested: (version: string) => `Version ${version}, tested`,
    newer: (version: string) => `Version ${version}, newer than tested`,
    older: (version: string) => `Version ${version}, older than tested`
  },

  copies: 'Own worktrees',
  copiesHint: 'Copies of a repository that sessions worked on.',
  dirty: (n: number) => plural(n, { one: '1 change', other: `${n} changes` }),
  ahead: (n: number) => plural(n, { one: '1 commit', other: `${n} commits` }),
  inUse: 'In use',
  nothingOwn: 'Nothing of its own',
  remove: 'Remove',
  removeOf: (branch: string) => `Remove ${branch}`,
  removeTitle: (branch: string) => `Remove the copy ${branch}?`,
  removeText: 'Its folder is deleted. A branch with commits of its own stays in the repository.',
  removeDirty: (n: number) =>
    plural(n, {
      one: '1 file there has changes that nothing else keeps. They are lost.',
      other: `${n} files there have changes that nothing else keeps. They are lost.`
    }),
  removing: 'Removing',
  notRemoved: 'It was not removed',

  allowed: 'Allowed folders',
  allowedHint: ['Sessions may begin in these. To allow another one, run ', 'afield allow PATH', ' on the machine.'] as const,
  noAllowed: 'No session can begin from here yet.',

  restart: 'Restart',
  restartText: 'Agents keep running',
  restarting: 'Restarting. Agents keep running.',
  notRestarted: 'It has not come back yet',
  notRestartedText: ['Look again in a minute, or run ', 'afield daemon start', ' there.'] as const,
  update: 'Update',
  updateText: 'How to bring it up to date',
  updateReady: 'A newer version is installed. A restart takes it up.',
  updateBy: 'Run this on the machine, then restart the helper:',
  updateNow: (version: string) => `Version ${version} runs there now.`,
  log: 'Log',
  logText: 'Its last lines',
  logEmpty: 'It has written nothing yet.',
  logCopy: 'Copy the log',
  again: 'Read again',
  reading: 'Reading',
  awake: 'Keep awake',
  awakeText: 'It does not sleep while a session works.',
  awakeCannot: 'This system offers no way to do that.',
  notTold: (host: string) => `${host} did not answer this`,

  unlink: 'Unlink this machine',
  unlinkTitle: (host: string) => `Unlink ${host}?`,
  unlinkText: 'It can no longer read or run anything. Sessions stay on your devices.',
  unlinkWhich: 'Which sign-in is it?',
  unlinkNone: (host: string) => `No sign-in of ${host} is left. This takes the machine off your list.`,
  unlinkLooking: 'Looking for its sign-in',
  unlinkFailed: 'It was not unlinked',
  unlinkFailedText: 'Nothing was changed. Try again on a live link.',
  unlinking: 'Unlinking',
  signInSeen: (when: string, from: string) => (from === '' ? `last seen ${when}` : `last seen ${when} from ${from}`)
}

export type MachineWords = Translated<typeof english>

export const machine = inLanguage('machine', english)
