import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words of the page of one computer: its processes, worktrees, agents and daemon. In English. */
const english = {
  pid: (pid: number) => `process ${pid}`,
  age: (long: string) => `up ${long}`,
  stop: 'Stop',
  stopOf: (title: string) => `Stop ${title}`,
  stopTitle: (title: string) => `Stop “${title}”?`,
  stopText: 'Its agent ends, with everything it started. The conversation stays, and a message resumes it.',
  leftOver: 'Left over',
  leftOverHint: 'A process whose session is gone. It still uses memory and may still change files.',
  end: 'End',
  endOf: (title: string) => `End ${title}`,
  endTitle: (title: string) => `End the process left by ${title}?`,
  endText: 'It ends with everything it started. No session needs it.',
  ending: 'Ending',
  notEnded: 'It did not end',

  agents: 'Agents',
  noAgents: 'No agent was found here.',
  signedIn: 'Signed in',
  signedOut: 'Not signed in',
  signInWith: 'Sign in on the computer',
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
  nothingOwn: 'No changes of its own',
  remove: 'Remove',
  removeOf: (branch: string) => `Remove ${branch}`,
  removeTitle: (branch: string) => `Remove the copy ${branch}?`,
  removeText: 'Its folder is deleted. A branch with commits of its own stays in the repository.',
  removeDirty: (n: number) =>
    plural(n, {
      one: '1 file there has changes that exist nowhere else. They will be lost.',
      other: `${n} files there have changes that exist nowhere else. They will be lost.`
    }),
  removing: 'Removing',
  notRemoved: 'It could not be removed',

  allowed: 'Allowed folders',
  allowedHint: ['Sessions can start in these folders. To allow another, run ', 'afield allow PATH', ' on the computer.'] as const,
  noAllowed: 'No session can be started from here yet.',

  restart: 'Restart',
  restartText: 'Agents keep running',
  restarting: 'Restarting. Agents keep running.',
  notRestarted: 'It is not running again yet',
  notRestartedText: ['Check again in a minute, or run ', 'afield daemon start', ' there.'] as const,
  update: 'Update',
  updateText: 'How to install the latest version',
  updateReady: 'A newer version is installed. It is used once the daemon restarts.',
  updateBy: (host: string) => `Run this on ${host}:`,
  updateBinaryText: [
    'Download the newer release there, and install it with ',
    'afield upgrade FOLDER',
    ' or as a Debian package.'
  ] as const,
  updateRestart: 'When it is done, restart the daemon from here.',
  updateAfter:
    'Running agents continue with the old version; sessions that are started or resumed later use the new one. A server on the same computer has to be restarted too.',
  restartDaemon: 'Restart the daemon',
  updateNow: (version: string) => `It runs version ${version} now.`,
  log: 'Log',
  logText: 'Its last lines',
  logEmpty: 'The log is empty.',
  logCopy: 'Copy the log',
  again: 'Refresh',
  reading: 'Loading',
  awake: 'Keep awake',
  awakeText: 'The computer does not sleep while a session works.',
  awakeCannot: 'Not supported on this system.',
  notTold: (host: string) => `${host} did not respond`,

  unlink: 'Unlink this computer',
  unlinkTitle: (host: string) => `Unlink ${host}?`,
  unlinkText: 'It can no longer read or run anything. Sessions stay on your devices.',
  unlinkWhich: 'Which sign-in is it?',
  unlinkNone: (host: string) => `${host} is no longer signed in. This removes the computer from your list.`,
  unlinkLooking: 'Looking for its sign-in',
  unlinkFailed: 'It could not be unlinked',
  unlinkFailedText: 'Nothing was changed. Try again when you are online.',
  unlinking: 'Unlinking',
  signInSeen: (when: string, from: string) => (from === '' ? `last seen ${when}` : `last seen ${when} from ${from}`)
}

export type MachineWords = Translated<typeof english>

export const machine = inLanguage('machine', english)
