import { inLanguage, locale, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'
import { duration } from './time.ts'

const plural = pluralIn('en')

/** What is said about notifications, in English. */
const english = {
  title: 'Notifications',
  seconds: (n: string) => `${n} s`,

  // This device.
  off: { phone: 'Off on this phone', computer: 'Off on this computer' },
  offText: {
    phone: 'Hear from agents when they are stuck. Only decisions make a sound. Everything else can be turned off.',
    computer: 'On a computer they stay off until you turn them on here.'
  },
  turningOn: 'Turning on',
  turnOff: { phone: 'Turn off on this phone', computer: 'Turn off on this computer' },
  turningOff: 'Turning off',
  deniedSteps: {
    android: 'Tap the sign left of the address, then Permissions, then Notifications, and allow them.',
    ios: 'Open Settings of this device, then Notifications, then Afield, and allow them.',
    safari: 'Open Settings of Safari, then Websites, then Notifications, and allow them for this site.',
    computer: 'Click the sign left of the address and allow notifications. The system must allow them for this browser too.'
  },
  insecure: 'Without HTTPS no browser delivers notifications',
  insecureText: 'Open Afield with https, or let the ntfy app tell you.',
  unsupported: 'This browser cannot show notifications',
  unsupportedText: 'Use another browser here, or let the ntfy app tell you.',
  useNtfy: 'Use ntfy instead',
  pushService: 'The push service of this browser does not answer',
  pushServiceText: 'Some browsers have none, or have it turned off. It is tried again each time you open Afield.',
  notRegistered: 'The server does not know this device yet',
  notRegisteredText: 'It is tried again each time you open Afield.',
  registering: { phone: 'Turning on for this phone', computer: 'Turning on for this computer' },
  registeringText: 'The server learns where to reach it.',

  // How well they arrive.
  reaching: { phone: 'Reaching this phone', computer: 'Reaching this computer' },
  missing: { phone: 'Not reaching this phone', computer: 'Not reaching this computer' },
  untried: 'Not tried yet',
  untriedText: 'Send a test to see whether it arrives.',
  lastArrived: (when: string, delay: string) => `Last one ${when}, shown after ${delay}`,
  lastUntimed: (when: string) => `Last one ${when}`,
  lastMissed: (when: string) => `The last one, ${when}, did not arrive`,
  lastTwoMissed: 'The last two did not arrive.',
  bars: (all: number, missed: number, slowest: string) =>
    missed === 0 ? `Last ${all}: all arrived, slowest ${slowest}` : `Last ${all}: ${missed} did not arrive, slowest ${slowest}`,
  barsNone: (all: number) => `Last ${all}: none arrived`,
  arrived: 'Arrived, 7 days',
  arrivedOf: (arrived: number, sent: number) => `${arrived} of ${sent}`,
  typical: 'Typical delay',
  slowest: 'Slowest',
  unknown: 'Not known',
  test: 'Send a test',
  testing: 'Sending',
  tested: {
    sent: (delay: string) => `Sent after ${delay}`,
    shown: (delay: string) => `Shown after ${delay}`,
    tapped: (delay: string) => `Tapped after ${delay}`,
    waiting: 'Waiting for it to be shown',
    late: 'Not shown within 30 s',
    lateText: 'It may still come. Look at Do Not Disturb, focus modes and the battery settings.',
    handedOver: 'Handed over. Whether it was shown is not told.',
    failed: 'The test could not be sent',
    failedText: 'The server does not answer.'
  },
  elsewhereMissing: (device: string, arrived: number, sent: number) => `${device} got only ${arrived} of ${sent}`,
  elsewhereFails: (channel: string) => `${channel} is not reached`,
  causes: {
    'held-back': 'Battery saver or a focus mode may hold them back.',
    'not-allowed':
      'The server may not reach that address. Its owner can allow the network with --push-allow, such as --push-allow 192.168.1.0/24.',
    'wants-token': 'That server wants an access token. Remove it, and add it again with the token.',
    'no-answer': 'Nobody answers at that address. The server goes on trying for a while.',
    gone: 'That address leads nowhere any more. Remove it, and add it again.',
    refused: 'The service there refuses them.'
  },
  causesHere: {
    android: [
      'Battery saver may hold them back',
      'In the battery settings of the system let your browser, or Afield, run without limits. Look at Do Not Disturb too.'
    ],
    ios: ['A focus may hold them back', 'Look at Focus, and at Afield under Notifications, in Settings of this device.'],
    computer: ['They come only while the browser runs', 'Let it go on in the background, and look at Do Not Disturb.'],
    gone: ['The subscription had expired', 'It has been renewed. Send a test.'],
    others: ['The push service does not take them', 'Turn notifications off and on again here.']
  },
  homeMissing: { phone: 'Notifications do not reach this phone', computer: 'Notifications do not reach this computer' },
  homeMissingWhy: 'See why',

  // Kinds.
  tellWhen: 'Tell me when',
  kinds: {
    decision: ['An agent needs my decision', 'Always on. It is what Afield is for.'],
    finished: ['An agent has finished', 'After more than 30 s, or when begun from a phone'],
    failed: ['An agent fails or goes silent', 'After 10 min without a sign of life'],
    machine: ['A machine drops off', 'For 5 min, while one of its agents works']
  },
  how: { sound: 'With sound', silent: 'Silent', off: 'Off' },

  lockScreen: 'In the notification',
  previews: 'Show the command',
  previewsHint: 'Sealed for this device. Off: “An agent needs you”.',
  previewsLocked: 'Off while App lock is on: nothing is shown that it would cover.',
  allowOnce: 'Allow once',
  allowOnceHint: 'For plain requests whose whole text is shown. Deny is always there.',
  allowOnceNeeds: 'Only with the command shown.',
  allowOnceTitle: 'Allow from a locked screen?',
  allowOnceText: {
    phone: 'Whoever holds this phone may then allow what an agent asks, locked as it is. What is more than plain still opens Afield.',
    computer:
      'Whoever sits at this computer may then allow what an agent asks, without opening Afield. What is more than plain still opens it.'
  },
  allowOnceConfirm: 'Turn on',

  watched: 'While I look at Afield',
  watchedHint: 'Nothing rings while you have it open and touched it within this time. A decision rings after it, if it is still open.',
  watchedFor: (minutes: number) => (minutes === 0 ? 'Ring anyway' : `${minutes} min`),

  // Quiet hours.
  quiet: 'Quiet hours',
  quietOff: 'Off',
  quietFromTo: (from: string, to: string) => `${from} to ${to}`,
  quietAllDay: 'All day',
  quietOn: 'Quiet hours on this device',
  quietOnHint: 'In the time zone of this device.',
  from: 'From',
  to: 'To',
  days: 'Beginning on',
  everyDay: 'every day',
  weekdays: 'Monday to Friday',
  weekend: 'Saturday and Sunday',
  keepHeading: 'What gets through',
  keep: {
    decisions: 'Only decisions, without sound',
    nothing: 'Nothing',
    collect: (at: string) => `Collect, tell me at ${at}`
  },
  keepHint: {
    decisions: 'The rest is dropped.',
    nothing: 'Decisions wait until you open Afield.',
    collect: 'One notification says what there was.'
  },
  collectAt: 'Tell me at',
  dayNeeded: 'One day at least.',

  snooze: 'Snooze',
  snoozeHint: 'Nothing rings until then, decisions neither.',
  snoozeHour: 'For 1 h',
  snoozeTomorrow: 'Until tomorrow, 07:00',
  snoozed: (until: string) => `Snoozed until ${until}`,
  snoozeEnd: 'End it',

  // Escalation.
  unanswered: 'If I do not answer',
  unansweredWhen: 'When a decision stays open',
  unansweredOff: 'Nobody else is told',
  unansweredAfter: (minutes: number) => `After ${minutes} min`,
  unansweredAlso: (minutes: number, channels: string) => `After ${minutes} min also to ${channels}`,
  unansweredTo: 'Then also tell',
  unansweredHint: 'What you choose here hears of a decision only then, not at once.',
  unansweredOrder: 'They hear of a decision one after the other, each only while it is still open.',
  unansweredSooner: (name: string) => `Tell ${name} sooner`,
  unansweredDeny: (choice: string, where: string) => `An agent can also go on without you: “${choice}”, in a session under ${where}.`,
  unansweredNobody: 'There is nobody else yet',
  unansweredNobodyText: 'Turn notifications on on another device, or add ntfy or a webhook.',

  // Channels.
  channels: 'Other places',
  channelsHint: 'What was added on a device follows the settings of that device.',
  channelKinds: {
    expo: 'Happy’s app',
    'web-push': 'Browser',
    ntfy: 'ntfy',
    'unified-push': 'UnifiedPush',
    webhook: 'Webhook',
    own: 'Own service',
    unknown: 'Unknown service'
  },
  channelOf: (kind: string, device: string) => `${kind}, added on ${device}`,
  channelHere: (kind: string) => `${kind}, added here`,
  channelArrived: (arrived: number, sent: number) => `${arrived} of ${sent} arrived in 7 days`,
  channelSent: (sent: number) => plural(sent, { one: '1 handed over in 7 days', other: `${sent} handed over in 7 days` }),
  channelNone: 'Nothing was sent in 7 days',
  channel: 'Other place',
  channelCause: 'What probably holds them back',
  channelUnknown: 'It is no longer there',
  channelUnknownText: 'It was removed, here or on another device.',
  remove: 'Remove',
  removing: 'Removing',
  removed: 'Removed. It hears nothing any more.',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeApp: 'It hears nothing any more. It comes back when the app is opened there.',
  removeAddress: 'It hears nothing any more. Only who knows its address can add it again.',
  notDone: 'That did not work',
  notDoneText: 'Nothing was changed. Check the link and try again.',
  addNtfy: 'Add ntfy',
  addNtfyText: 'An app for phones, watches and desktops',
  addWebhook: 'Add a webhook',
  addWebhookText: 'For Home Assistant, or a program of yours',

  // Adding ntfy.
  ntfyLead:
    'The ntfy app rings where no browser can: on a phone, a watch or a desktop. It is told only that an agent needs you, never what it does.',
  ntfyWhere: 'Server',
  ntfyPublic: 'ntfy.sh',
  ntfyOwn: 'My own',
  ntfyTopic: 'Topic',
  ntfyTopicHint: 'Made up just now. Whoever knows it can read it, so keep it to yourself.',
  ntfyAnother: 'Make up another',
  ntfyAddress: 'Address',
  ntfyAddressHint: 'Such as https://ntfy.example.org. Without a topic one is made up.',
  ntfyAddressWrong: 'That is no web address.',
  ntfyToken: 'Access token',
  ntfyTokenHint: 'Only if that server wants one.',
  ntfyFollow: 'Follow it',
  ntfySteps: [
    'Install ntfy where it shall ring: from the app store, or from ntfy.sh.',
    'Open the link below there, or scan the code. Or tap + in ntfy and type the topic.',
    'Come back here and send the test.'
  ],
  ntfyOpen: 'Open in ntfy',
  ntfyQr: 'The address of the topic as a code to scan',
  ntfyAdd: 'Add it and send a test',
  adding: 'Adding',
  added: 'Added',
  addedText: 'The test was handed over. It should ring there now.',
  addedWaiting: 'It is added, and the test is on its way.',
  addedFailed: 'Added, but the test did not get through',
  addRefused: 'The server cannot use this',
  addRefusedText: 'It takes addresses that begin with https://, and http:// for the networks it was told to allow.',
  done: 'Done',

  // Adding a webhook.
  webhookLead:
    'Your server posts JSON to this address, signed as Standard Webhooks say. It is told only that an agent needs you, never what it does.',
  webhookHint: 'Such as https://home.example/api/webhook/a-name-that-nobody-guesses',
  webhookAdd: 'Add it and send a test',
  webhookSecret: 'Its secret',
  webhookOnce: 'Requests are signed with it. It is shown this once.',
  webhookCopy: 'Copy the secret',

  // One session.
  sessionTitle: 'Notifications of this session',
  sessionHint: 'On this device only.',
  sessionChoices: { all: 'All', decisions: 'Decisions only', off: 'Nothing' },

  // Keeping them.
  readable:
    'Your server can read these settings: kinds, hours, time zone and who else is told. It needs them to judge when to ring. What agents do stays sealed.',
  saving: 'Saving',
  saved: 'Saved',
  unsavedShort: 'Not saved',
  unsaved: 'Not saved yet',
  unsavedText: 'The server does not answer. What you chose is kept while Afield is open, and saved when it answers.',
  refused: 'The server did not take it',
  refusedText: 'What you chose is not in force.',
  noDevice: 'This sign-in cannot keep settings',
  noDeviceText: 'It is of the older way. Link this device again.',
  reading: 'Asking the server',
  unread: 'The settings could not be read',
  unreadText: 'Your server keeps them, and does not answer.',
  untold: 'This server has no settings for notifications',
  untoldText: 'A newer Afield server does.'
} as const

export type NotificationWords = Translated<typeof english>

export const notifications = inLanguage('notifications', english)

const tenths = new Intl.NumberFormat(locale(), { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** A delay as exact as it matters: "1.2 s", "14 s", "3 min". */
export function delayInWords(ms: number): string {
  return ms < 9_950 ? notifications.seconds(tenths.format(ms / 1000)) : duration(ms)
}
