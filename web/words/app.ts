import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Every word of the app outside a session, in English. A function where a number or a name decides the sentence. */
const english = {
  app: 'Afield',
  slogan: 'Keep your coding agents working while you are afield.',
  skip: 'Skip to content',
  back: 'Back',
  close: 'Close',
  cancel: 'Cancel',
  copied: 'Copied',
  copyThe: (what: string) => `Copy the ${what}`,
  output: 'output',
  tryAgain: 'Try again',
  holdOn: 'Keep holding until the bar is full.',
  details: 'Details',

  nav: {
    label: 'Main',
    home: 'Home',
    machines: 'Machines',
    settings: 'Settings',
    new: 'New',
    checkKey: 'the account key is not checked yet',
    needYou: (n: number) => plural(n, { one: '1 needs you', other: `${n} need you` })
  },

  home: {
    allQuiet: 'All quiet',
    nothingNeedsYou: 'Nothing needs you',
    needYou: (n: number) => plural(n, { one: '1 agent needs you', other: `${n} agents need you` }),
    tally: (waiting: number, working: number, quiet: number) => {
      if (working > 0) return `${working} at work.`
      if (waiting > 0) return 'Nothing else is going on.'
      return quiet === 0 ? 'No sessions yet.' : 'Nothing needs you now.'
    },
    away: (host: string) => `${host} is away.`,
    manyAway: (n: number) => `${n} machines are away.`,
    wereWorking: (n: number, at: string) => plural(n, { one: `1 was working at ${at}`, other: `${n} were working at ${at}` }),
    neededAt: (n: number, at: string) => plural(n, { one: `1 needed you at ${at}`, other: `${n} needed you at ${at}` }),
    wasQuiet: (at: string) => `All was quiet at ${at}`,
    nothingNeeded: 'They go on without you. Nothing needed you then.',
    nothingWorked: 'Agents go on without you.',
    neededThen: (n: number) => plural(n, { one: 'One agent needed you then.', other: `${n} agents needed you then.` }),
    decisions: 'Needs you',
    working: 'Working',
    quiet: 'Recent',
    lastKnown: 'Last known',
    review: 'Review',
    answer: 'Answer',
    andRisks: (first: string, others: number) =>
      plural(others, { one: `${first}, and 1 more risk`, other: `${first}, and ${others} more risks` }),
    more: (n: number) => `${n} more wait for you`,
    pickOne: 'Pick one on the left.',
    keys: { move: 'move', open: 'open', begin: 'new', all: 'all keys' },
    answerAll: (n: number) => plural(n, { one: 'Answer it', other: `Answer ${n}` }),
    empty: 'Nothing in the field yet',
    emptyText: 'Run this on the machine where your agents work, and scan the code it shows.',
    inSources: 'In the folder with the sources of Afield.',
    onlyHere: 'For another machine, open this page by an address that it can reach too.',
    scan: 'Scan a code',
    paste: 'Paste a link instead',
    ready: (host: string) => `${host} is ready`,
    readyText: 'Start an agent there and it appears here.',
    howToStart: 'How to start one',
    loading: 'Reading your sessions'
  },

  needsYou: {
    title: 'Needs you',
    empty: 'Nothing needs you',
    emptyText: "You're all caught up.",
    toHome: 'Home',
    place: (at: number, of: number) => `${at} of ${of}`,
    next: 'Next decision',
    before: 'Decision before'
  },

  state: {
    needs: 'Needs you',
    working: 'Working',
    done: 'Finished, unread',
    failed: 'Failed',
    quiet: 'Idle',
    ended: 'Ended',
    away: 'Not reachable'
  },

  session: {
    sealed: 'This session cannot be opened',
    sealedText: 'Its key was made for another account.',
    untitled: 'New session',
    starting: 'Just started',
    working: 'Working',
    ready: 'Ready for a message',
    waitsFor: (host: string) => `Waits for ${host}`,
    helperGone: 'Its helper is not running',
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
    think: 'Go on',
    plan: 'Start the work as planned',
    other: (tool: string) => `Use ${tool}`
  },

  connection: {
    live: 'Live',
    starting: 'Connecting',
    catchingUp: 'Catching up',
    messagesOf: (done: number, all: number) => `${done} of ${plural(all, { one: '1 message', other: `${all} messages` })}`,
    catchingUpText: 'New things appear at once when all is here.',
    offline: 'You are offline',
    offlineText: (at: string) => `This is how things stood at ${at}.`,
    offlineNothing: 'Nothing was kept on this device yet.',
    leaves: (n: number) => plural(n, { one: '1 thing leaves when you are back.', other: `${n} things leave when you are back.` }),
    offlineShort: (since: string | undefined) => (since ? `Offline, ${since}` : 'Offline'),
    silent: 'The server does not answer',
    silentNext: (seconds: number) => `Your device is online. Next try in ${seconds} s.`,
    silentNow: 'Your device is online. Trying now.',
    silentShort: 'No answer',
    tryNow: 'Try now',
    check: 'Check the link',
    checking: 'Checking',
    letGo: 'Let go to check the link',
    unlinked: (on: string) => `This device was unlinked on ${on}`,
    unlinkedText: 'Its sessions were removed. The account key is still here.',
    clockOff: (by: string, isAhead: boolean) => `This device's clock is ${by} ${isAhead ? 'ahead' : 'behind'}`,
    clockOffText: 'Ages follow the server until it is right. Nothing else depends on it.',
    newer: 'A newer Afield is ready',
    newerText: 'It takes a second, nothing is lost.',
    reload: 'Reload'
  },

  welcome: {
    sealed: 'Encrypted on your devices. This server cannot read your work.',
    honest: 'You see what arrived, what was read and what waits for you.',
    create: 'Create an account',
    link: 'Link with a device I have',
    restore: 'Restore with my account key',
    signInAgain: 'Sign in again',
    removeKey: 'Remove the account key from this device',
    pairing: 'First your account, then the machine',
    pairingText: 'Create or open your account on this device. The request waits five minutes.',
    insecure: 'Open Afield with https, or on localhost',
    insecureText:
      'Without it the browser offers no keys and no notifications. The server can do https itself: start it with --tls-cert and --tls-key.',
    forgetful: 'This window forgets everything when it closes',
    forgetfulText: 'It is a private one. Use a normal window, or have your account key somewhere else.',
    noStorage: 'This window keeps nothing',
    noStorageText: 'Open Afield in a normal window: your account key has to be kept on this device.'
  },

  machines: {
    title: 'Machines',
    add: 'Link a machine',
    empty: 'No machine linked yet',
    emptyText: 'Run this on the machine where your agents work, and scan the code it shows.',
    online: 'Online',
    idle: 'No agent running',
    away: 'Away',
    sinceAway: (when: string) => `Away since ${when}`,
    helperStopped: (when: string) => `Helper stopped, ${when}`,
    agents: (n: number) => (n === 0 ? 'No agent running' : plural(n, { one: '1 agent running', other: `${n} agents running` })),
    sealed: 'This machine cannot be opened'
  },

  machine: {
    gone: 'This machine is not linked any more',
    facts: 'About it',
    system: 'System',
    helper: 'Helper',
    home: 'Home folder',
    linked: 'Linked',
    seen: 'Last seen',
    running: 'Running now',
    earlier: 'Earlier here',
    none: 'No agent runs here now.',
    awayTitle: 'What you can do',
    stopped: 'Its helper was stopped by somebody there, or because the machine shut down.',
    awayText: ['Wake it, check its power and network, or run ', 'afield doctor', ' on it.'] as const
  },

  new: {
    title: 'New session',
    heading: 'Agents start on the machine',
    lead: 'Run one of these where your code is. The session appears here at once, and you go on from your phone.',
    inClone: 'From another folder than that with the sources of Afield, say where that is: node ~/afield/build.mjs start claude.',
    claude: 'Claude Code, with everything you set up for it',
    run: 'Any other agent that speaks ACP',
    demo: 'A scripted agent, to try everything without an account',
    firstTime: 'On a new machine',
    firstTimeText: 'Link it first: run this there, and scan the code it shows.',
    scan: 'Scan a code',
    copy: (command: string) => `Copy ${command}`
  },

  settings: {
    title: 'Settings',
    account: 'Account',
    key: 'Account key',
    keyUnchecked: 'Not checked yet',
    keyChecked: (on: string) => `Checked on ${on}`,
    devices: 'Devices',
    devicesValue: 'Sign-ins of this account',
    server: 'This server',
    app: 'This app',
    appearance: 'Appearance',
    about: 'About',
    signOut: 'Sign out',
    signOutHint: 'Removes everything from this device',
    signOutTitle: 'Sign out of this device?',
    signOutText: 'Sessions and the account key are removed from it. You come back with your account key, or with another device.',
    signOutUnchecked: 'You have not checked your account key. Without it, and without another device, this account is lost for ever.',
    signOutConfirm: 'Sign out',
    signingOut: 'Signing out',
    checkFirst: 'Check my key first'
  },

  keySettings: {
    lead: 'Whoever has it can read everything. It is the only way back if you lose every device.',
    show: 'Show the key',
    hide: 'Hide the key',
    check: 'Check my key',
    checkAgain: 'Check again'
  },

  devices: {
    title: 'Devices',
    loading: 'Asking the server',
    failed: 'The list could not be read',
    failedText: 'Nothing was changed.',
    add: 'Add a device or a machine',
    addComputer: 'A machine with agents',
    addComputerText: 'Run this there, and scan the code it shows.',
    addDevice: 'A phone, a tablet or another browser',
    addDeviceText: (address: string) => `Open ${address} there, choose “Link with a device I have”, and scan the code it shows.`,
    this: 'This device',
    kinds: { account: 'Signed in with the account key', terminal: 'Helper on a machine', device: 'Linked with another device' },
    unnamed: { account: 'A device with the account key', terminal: 'A machine', device: 'A linked device' },
    seen: (when: string) => `Last seen ${when}`,
    unlink: 'Unlink',
    unlinkTitle: (name: string) => `Unlink ${name}?`,
    unlinkDevice: 'Its sign-in ends now and its connections close. It may still hold the account key: make a new account if it was stolen.',
    unlinkTerminal:
      'Its sign-in ends now and its connections close. It can no longer read or run anything for you. Sessions stay on your devices.',
    unlinking: 'Unlinking',
    unlinkFailed: 'It was not unlinked'
  },

  appearance: {
    title: 'Appearance',
    theme: 'Colours',
    system: 'As the system',
    light: 'Light',
    dark: 'Dark',
    confirm: 'Confirming',
    hold: 'Hold to confirm',
    holdHint: 'Keep the button pressed for a second',
    taps: 'Two taps',
    tapsHint: 'The second one is named and waits a moment'
  },

  about: {
    title: 'About',
    app: 'App',
    server: 'Server',
    lead: 'Everything your agents say is encrypted between your machines and your devices. This server stores and passes on what it cannot read.',
    licences: 'Licences',
    licencesText: 'Afield is free software under the MIT licence. Icons by Lucide, ISC.',
    storage:
      'What this device keeps is sealed under a key the browser does not give out. It does not stop somebody who can unlock this device.'
  },

  unknown: { title: 'There is nothing here', text: 'The address may be from a newer Afield, or mistyped.', home: 'Home' }
}

export type AppWords = Translated<typeof english>

export const words = inLanguage('app', english)
