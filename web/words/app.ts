import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words of the frame and those that several screens share, in English. A function where the sentence depends on a number or a name. */
const english = {
  app: 'Afield',
  slogan: 'Keep your coding agents working while you are afield.',
  skip: 'Skip to content',
  back: 'Back',
  close: 'Close',
  cancel: 'Cancel',
  copied: 'Copied',
  notCopied: 'Not copied: the browser denied access to the clipboard.',
  copyThe: (what: string) => `Copy the ${what}`,
  output: 'output',
  tryAgain: 'Try again',
  holdOn: 'Keep holding until the bar is full.',
  details: 'Details',

  nav: {
    label: 'Main',
    home: 'Home',
    machines: 'Computers',
    settings: 'Settings',
    new: 'New',
    checkKey: 'the account key is not checked yet',
    needYou: (n: number) => plural(n, { one: '1 needs you', other: `${n} need you` })
  },

  state: {
    needs: 'Needs you',
    working: 'Working',
    done: 'Finished, unread',
    failed: 'Failed',
    quiet: 'Idle',
    ended: 'Ended',
    away: 'Offline'
  },

  session: {
    sealed: 'This session cannot be decrypted',
    sealedText: 'Its key belongs to another account.',
    untitled: 'New session',
    starting: 'Just started',
    working: 'Working',
    ready: 'Ready for a message',
    waitsFor: (host: string) => `Waiting for ${host}`,
    daemonGone: 'Its daemon is not running',
    failed: 'Stopped with an error',
    cancelled: 'Stopped',
    you: (text: string) => `You: ${text}`,
    added: (count: number) => plural(count, { one: '1 line added', other: `${count} lines added` }),
    removed: (count: number) => plural(count, { one: '1 line removed', other: `${count} lines removed` }),
    ran: (what: string) => `Ran ${what}`,
    running: (what: string) => `Running ${what}`,
    runningFor: (what: string, time: string) => `Running ${what}, ${time}`,
    file: (name: string) => `Sent ${name}`,
    planned: (done: number, all: number) => `Plan, ${done} of ${all}`,
    limit: 'Usage limit reached',
    loadFailed: 'This part of the app could not be loaded',
    loadFailedText: 'Check the network and try again.'
  },

  decision: {
    execute: 'Run a command',
    edit: (file: string | undefined) => (file ? `Edit ${file}` : 'Edit a file'),
    delete: (file: string | undefined) => (file ? `Delete ${file}` : 'Delete a file'),
    move: 'Move a file',
    read: (file: string | undefined) => (file ? `Read ${file}` : 'Read a file'),
    search: 'Search',
    fetch: (host: string | undefined) => (host ? `Fetch from ${host}` : 'Fetch from the web'),
    think: 'Continue',
    plan: 'Start the plan',
    other: (tool: string) => `Use ${tool}`
  },

  connection: {
    live: 'Live',
    starting: 'Connecting',
    catchingUp: 'Catching up',
    messagesOf: (done: number, all: number) => `${done} of ${plural(all, { one: '1 message', other: `${all} messages` })}`,
    catchingUpText: 'New messages appear together once all have arrived.',
    offline: 'You are offline',
    offlineText: (at: string) => `Last updated at ${at}.`,
    offlineNothing: 'Nothing is stored on this device yet.',
    leaves: (n: number) =>
      plural(n, { one: '1 item will be sent when you are back online.', other: `${n} items will be sent when you are back online.` }),
    offlineShort: (since: string | undefined) => (since ? `Offline, ${since}` : 'Offline'),
    silent: 'The server is not responding',
    silentNext: (seconds: number) => `Your device is online. Retrying in ${seconds} s.`,
    silentNow: 'Your device is online. Retrying now.',
    silentShort: 'No response',
    blocked: 'WebSocket is blocked',
    blockedText: 'The server answers, but a reverse proxy, a VPN or this network blocks the live connection.',
    tryNow: 'Retry now',
    check: 'Check connection',
    checking: 'Checking',
    letGo: 'Release to check the connection',
    unlinked: (on: string) => `This device was unlinked on ${on}`,
    unlinkedText: 'Its sessions were removed. The account key is still here.',
    clockOff: (by: string, isAhead: boolean) => `This device's clock is ${by} ${isAhead ? 'ahead' : 'behind'}`,
    clockOffText: 'Until it is corrected, times are taken from the server. Nothing else is affected.',
    newer: 'A new version is ready',
    newerText: 'Reloading takes a second. Nothing is lost.',
    reload: 'Reload'
  },

  welcome: {
    sealed: 'Encrypted on your devices. This server cannot read your work.',
    honest: 'You see what arrived, what was read and what is waiting for you.',
    create: 'Create an account',
    link: 'Link with an existing device',
    restore: 'Restore with my account key',
    closed: 'This server accepts no new accounts. To get one, ask its owner.',
    signInAgain: 'Sign in again',
    removeKey: 'Remove the account key from this device',
    pairing: 'Your account first, then the computer',
    pairingText: 'Create or open your account on this device. The request expires after five minutes.',
    insecure: 'Open Afield over HTTPS or on localhost',
    insecureText:
      'Otherwise the browser blocks keys and notifications. Start the server with --https auto, which says how this computer can get a certificate, or with --tunnel cloudflared for a try.',
    forgetful: 'This window forgets everything when it closes',
    forgetfulText: 'It is a private window. Use a normal one, or store your account key somewhere else.',
    noStorage: 'This window cannot store data',
    noStorageText: 'Open Afield in a normal window: your account key has to be stored on this device.'
  },

  machines: {
    title: 'Computers',
    add: 'Link a computer',
    empty: 'No computer linked yet',
    emptyText: 'Run this on the computer where your agents work, then open the address it shows or scan its code.',
    online: 'Online',
    idle: 'No agent running',
    away: 'Offline',
    sinceAway: (when: string) => `Offline since ${when}`,
    daemonStopped: (when: string) => `Daemon stopped, ${when}`,
    agents: (n: number) => (n === 0 ? 'No agent running' : plural(n, { one: '1 agent running', other: `${n} agents running` })),
    sealed: 'This computer cannot be decrypted'
  },

  machine: {
    gone: 'This computer is no longer linked',
    facts: 'Details',
    system: 'System',
    version: 'Afield version',
    home: 'Home folder',
    linked: 'Linked',
    seen: 'Last seen',
    running: 'Running now',
    earlier: 'Earlier here',
    none: 'No agent is running here.',
    awayTitle: 'What you can do',
    stopped: 'Its daemon was stopped, or the computer was shut down.',
    awayText: ['Wake it, check its power and network, or run ', 'afield doctor', ' on it.'] as const
  },

  new: {
    title: 'New session',
    heading: 'Agents start on your computer',
    lead: 'Run one of these where your code is. The session appears here at once, and you can continue on your phone.',
    inClone: 'These work in the Afield source folder. Elsewhere, give its path: node ~/afield/build.mjs start claude.',
    claude: 'Claude Code, with your own setup',
    run: 'Any other agent that speaks ACP',
    demo: 'A scripted agent to try everything without an account',
    firstTime: 'On a new computer',
    firstTimeText: 'Link it first: run this there, then open the address it shows or scan its code.',
    scan: 'Scan a code',
    copy: (command: string) => `Copy ${command}`
  },

  locked: {
    title: 'Afield is locked',
    text: 'Agents keep working. Nothing from your account is shown.',
    unlock: 'Unlock',
    withKey: 'Use the account key instead',
    keyWrong: 'That is not the key to this account.',
    failed: 'Unlocking failed. Try again.',
    asking: 'Waiting for confirmation',
    key: 'Account key'
  },

  full: {
    device: 'This device has no space left',
    deviceText: 'Messages stay on the server. New ones are not stored here.',
    server: 'The server is out of space',
    serverText: 'Agents keep working and queue their messages. Yours wait here.',
    free: 'Free space'
  },

  unknown: { title: 'Page not found', text: 'The address may be mistyped, or belong to a newer version of Afield.', home: 'Home' }
}

export type AppWords = Translated<typeof english>

export const words = inLanguage('app', english)
