import { pluralIn } from './plural.ts'
import { inLanguage, type Said } from './spoken.ts'

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
  tryAgain: 'Try again',
  details: 'Details',

  nav: {
    label: 'Main',
    home: 'Home',
    machines: 'Machines',
    settings: 'Settings',
    new: 'New',
    needYou: (n: number) => plural(n, { one: '1 needs you', other: `${n} need you` })
  },

  home: {
    allQuiet: 'All quiet',
    nothingNeedsYou: 'Nothing needs you',
    needYou: (n: number) => plural(n, { one: '1 agent needs you', other: `${n} agents need you` }),
    tally: (waiting: number, working: number, quiet: number) => {
      if (working === 0 && quiet === 0) return waiting === 0 ? 'No sessions yet.' : 'Nothing else is going on.'
      if (working === 0) return waiting === 0 ? 'Nothing needs you now.' : 'The others rest.'
      return quiet === 0 ? `${working} at work.` : `${working} at work, the others rest.`
    },
    away: (host: string) => `${host} is away.`,
    manyAway: (n: number) => `${n} machines are away.`,
    wereWorking: (n: number, at: string) =>
      n === 0 ? `All was quiet at ${at}` : plural(n, { one: `1 was working at ${at}`, other: `${n} were working at ${at}` }),
    nothingNeeded: 'They go on without you. Nothing needed you then.',
    nothingWorked: 'Agents go on without you.',
    neededThen: (n: number) => plural(n, { one: 'One agent needed you then.', other: `${n} agents needed you then.` }),
    decisions: 'Needs you',
    working: 'Working',
    quiet: 'Recent',
    lastKnown: 'Last known',
    review: 'Review',
    more: (n: number) => `${n} more wait for you`,
    pickOne: 'Pick one on the left.',
    keys: { move: 'move', open: 'open', begin: 'new', all: 'all keys' },
    answerAll: (n: number) => plural(n, { one: 'Answer it', other: `Answer ${n}` }),
    empty: 'Nothing in the field yet',
    emptyText: ['Run ', 'afield claude', ' on a computer, scan the code it shows, and your first agent appears here.'] as const,
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
    emptyText: 'You will hear from me.',
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
    quiet: 'Quiet',
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
    ended: 'Ended',
    helperGone: 'Its helper is not running',
    failed: 'Stopped with an error',
    cancelled: 'Stopped',
    you: (text: string) => `You: ${text}`,
    ran: (what: string) => `Ran ${what}`,
    running: (what: string) => `Running ${what}`,
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
    catchingUpText: 'New things appear at once when all is here.',
    offline: 'You are offline',
    offlineText: (at: string) => `This is how things stood at ${at}.`,
    offlineNothing: 'Nothing was kept on this device yet.',
    leaves: (n: number) => plural(n, { one: '1 message leaves when you are back.', other: `${n} messages leave when you are back.` }),
    offlineShort: (since: string | undefined) => (since ? `Offline, ${since}` : 'Offline'),
    silent: 'The server does not answer',
    silentNext: (seconds: number) => `Your device is online. Next try in ${seconds} s.`,
    silentNow: 'Your device is online. Trying now.',
    silentShort: 'No answer',
    tryNow: 'Try now',
    unlinked: (on: string) => `This device was unlinked on ${on}`,
    unlinkedText: 'Nothing is left on it. Link it again to go on.',
    unlinkedKeyText: 'Its sessions were removed. The account key is still here, because it was never checked.',
    linkAgain: 'Link again',
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
    goOn: 'Go on with the key on this device',
    insecure: 'Open Afield with https, or on localhost',
    insecureText:
      'Without it the browser offers no keys and no notifications. The server can do https itself: start it with --tls-cert and --tls-key.',
    noStorage: 'This window keeps nothing',
    noStorageText: 'Open Afield in a normal window: your account key has to be kept on this device.'
  },

  create: {
    title: 'Create an account',
    lead: 'It has no name and no password. It is a key, made on this device.',
    step: (n: number, of: number) => `Step ${n} of ${of}`,
    device: 'Name of this device',
    deviceHint: 'So that you recognise it in the list of your devices.',
    code: 'Setup code',
    codeHint: 'It is shown where the server runs, in the file it names.',
    codeWrong: 'That is not the code of this server.',
    codeWanted: 'The first account of a server needs its setup code.',
    pending: 'The owner has been asked',
    pendingText: 'Tell them these four words, so that they know it is you.',
    pendingHint: 'This page asks again by itself. You wait for 15 minutes at a time.',
    askAgain: 'Ask again',
    invited: 'You were invited to this server.',
    inviteWanted: 'The owner of this server has to invite you. Open the link they sent, or type its code.',
    invite: 'Invitation code',
    inviteHint: 'It stands behind invite= in the link.',
    inviteBad: 'This invitation does not open the server. It may be used or over.',
    closed: 'This server takes no new accounts',
    closedText: 'Ask its owner, or restore with the key of an account that is there.',
    locked: 'Too many tries',
    lockedText: 'The next one is possible in a minute.',
    lockedFor: (time: string) => `The next one is possible in ${time}.`,
    lockedOver: 'You can try again now.',
    unreachable: 'The server did not answer',
    unreachableText: 'Nothing was created. Check the network and try again.',
    other: 'The server refused',
    submit: 'Create my account',
    busy: 'Creating'
  },

  key: {
    title: 'Write down your account key',
    lead: 'It opens your sessions if you lose every device. Nobody can reset it, not even the owner of this server.',
    label: 'Account key, eleven groups',
    save: 'Save file',
    print: 'Print',
    copy: 'Copy',
    hidden: 'Hidden while Afield is in the background. The clipboard is cleared after 60 s while this page stays open.',
    check: 'I have it, check me',
    later: 'Later, remind me tomorrow',
    show: 'Show the key again',
    concealed: 'Hidden while you were away',
    fileName: 'afield-account-key.txt',
    fileText: (key: string, server: string) =>
      `Afield account key\n\n${key}\n\nWhoever has this key can read everything in the account. Keep it where you keep your passport.\nServer: ${server}\nTo use it: open the server, choose "Restore with my account key".\n`
  },

  check: {
    title: 'Check your key',
    lead: 'Type these three groups from what you wrote down.',
    group: (n: number) => `Group ${n}`,
    wrong: (n: number) => `Group ${n} is different from your key. Look again.`,
    submit: 'Check',
    done: 'That is right',
    doneText: 'Your key is safe with you. You will not be asked again.',
    goOn: 'Go on',
    again: 'Show me the key again'
  },

  restore: {
    title: 'Restore with your account key',
    lead: 'Eleven groups of letters and digits. Paste them or type them, blanks do not matter.',
    field: 'Account key',
    impossible: (group: number) => `Group ${group} has a letter that cannot be in a key.`,
    lengthOf: (group: number) => `Group ${group} is too short or too long.`,
    tooShort: (missing: number) => plural(missing, { one: '1 letter to go.', other: `${missing} letters to go.` }),
    tooLong: (extra: number) => plural(extra, { one: 'One letter too many.', other: `${extra} letters too many.` }),
    complete: 'That looks like a key.',
    nothingChanged: 'Nothing was changed. Check the network and try again.',
    unknown: 'This key does not belong to an account on this server.',
    submit: 'Restore',
    busy: 'Opening your account'
  },

  link: {
    title: 'Link with a device you have',
    lead: 'On a device that has your account: New, Scan a code. Then point it here.',
    qr: 'The link as a code to scan',
    copy: 'Copy the link',
    waits: 'Waiting for your other device',
    trouble: 'The server does not answer. Trying on.',
    expired: 'This code has ended',
    expiredText: 'It is good for five minutes, and once.',
    fresh: 'Show a new code',
    unreadable: 'The answer could not be opened',
    risk: 'Whoever answers this hands you an account. Scan it only with your own device.',
    code: 'Check code',
    codeHint: 'Your other device asks for these four digits.',
    forHappy: 'My other device has the Happy app',
    forAfield: 'My other device has Afield',
    leadHappy: 'In the Happy app that has your account: link a new device, and point it here.'
  },

  scan: {
    title: 'Scan a code',
    lead: 'Run afield on a computer and point the camera at the code it shows.',
    denied: 'Camera is off for Afield',
    deniedText: "Paste the link instead, or allow it in the browser's site settings.",
    none: 'No camera here',
    noneText: 'Paste the link that the computer shows.',
    starting: 'Starting the camera',
    paste: 'Paste a link',
    field: 'Link from the computer',
    fieldHint: 'It begins with https:// or happy://',
    useClipboard: 'Paste from the clipboard',
    go: 'Go on',
    notALink: 'This is no link of Afield. Copy the whole line that the computer shows.',
    notACode: 'That code is something else.'
  },

  pair: {
    machine: 'Link this computer to your account?',
    device: 'Give this device your account?',
    from: 'Link from a computer',
    asks: 'Asks',
    asksTerminal: 'A program on a computer',
    asksDevice: 'A browser or phone',
    gets: 'Gets',
    getsV2: 'A key to write sessions for you',
    getsAll: 'Your whole account key',
    server: 'Server',
    valid: 'Valid for',
    validText: 'five minutes from its start',
    can: 'Can',
    cannot: 'Cannot',
    canRun: ' run agents on that computer and show them to you here',
    canRead: ' read and write the sessions it starts itself',
    cannotRead: ' read your other machines or sessions',
    cannotLink: ' open your account key',
    canAll: ' do everything you can: it holds the account key',
    noCode: 'This program shows no check code. It gets full control of your agents: link it only if you started it yourself just now.',
    fullControl: 'This gives full control of your agents. Link it only if you started it yourself just now.',
    network: 'Network',
    code: 'Check code',
    codeHint: 'Four digits. The computer shows them below its code.',
    codeHintDevice: 'Four digits. The other device shows them below its code.',
    codeShort: 'Type all four digits first.',
    codeWrong: 'Not the digits that were made with this link. Three wrong ones end the request.',
    wrongCodesTitle: 'The request was refused',
    wrongCodesText: 'Three check codes were wrong, so nothing was linked. If you started it yourself, show a new code there and scan that.',
    alteredTitle: 'The server tells of another request',
    alteredText:
      'What it says does not fit the link, so nothing was linked. Show a new code; if this comes again, do not trust the server.',
    wholeKey: 'This program asks for your account key itself. With it, it can read everything, for ever.',
    wholeKeyDevice: 'Link it only if it is in your hand. It can read everything, for ever.',
    hold: 'Hold to link',
    tap: 'Link it',
    confirm: 'Confirm: link it once',
    holdHint: 'Keep it pressed until it is full.',
    tapHint: 'Tap, then confirm.',
    twoTaps: 'Use two taps instead',
    refuse: 'Refuse',
    linking: 'Linking',
    checking: 'Asking the server about this request',
    goneTitle: 'This request has ended',
    goneText: ['Show a new code with ', 'afield login', '.'] as const,
    answeredTitle: 'This request was answered already',
    answeredText: 'If that was not you, end the sign-in you do not know under Settings, Devices.',
    noLinkTitle: 'There is no request in this address',
    noLinkText: 'Scan the code the computer shows, or paste its link.',
    badLinkTitle: 'This link is damaged',
    badLinkText: 'Copy the whole line that the computer shows, or scan its code.',
    otherServer: (theirs: string) => `This code is for ${theirs}`,
    otherServerText: (ours: string) => `This app talks to ${ours}.`,
    openThere: 'Open there',
    noAccountTitle: 'First your account, then this computer',
    noAccountText: 'Create or open your account on this device. The request waits five minutes.',
    unreachable: 'The server did not answer',
    unreachableText: 'Nothing was linked.',
    refusedTitle: 'The server refused',
    doneTitle: 'Linked',
    doneText: 'Its sessions appear on Home as soon as an agent runs there.',
    doneDevice: 'The other device has your account now.',
    toHome: 'To your sessions',
    scan: 'Scan a code'
  },

  machines: {
    title: 'Machines',
    add: 'Link a computer',
    empty: 'No machine linked yet',
    emptyText: 'Computers appear here once an agent has run on them.',
    online: 'Online',
    idle: 'No agent running',
    away: 'Away',
    sinceAway: (when: string) => `Away since ${when}`,
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
    awayText: ['Wake it, check its power and network, or run ', 'afield doctor', ' on it.'] as const
  },

  new: {
    title: 'New session',
    heading: 'Agents start on the computer',
    lead: 'Run one of these where your code is. The session appears here at once, and you go on from your phone.',
    claude: 'Claude Code, with everything you set up for it',
    run: 'Any other agent that speaks ACP',
    demo: 'A scripted agent, to try everything without an account',
    firstTime: 'On a new computer',
    firstTimeText: 'The first run shows a code. Scan it to link the computer.',
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
    this: 'This device',
    kinds: { account: 'Signed in with the account key', terminal: 'Helper on a computer', device: 'Linked with another device' },
    unnamed: { account: 'A device with the account key', terminal: 'A computer', device: 'A linked device' },
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

export type AppWords = Said<typeof english>

export const words = inLanguage('app', english)
