import { inLanguage, locale, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'
import { duration } from './time.ts'

const plural = pluralIn('en')

/** Words about notifications, in English. */
const english = {
  title: 'Notifications',
  seconds: (n: string) => `${n} s`,

  // This device.
  off: { phone: 'Off on this phone', computer: 'Off on this computer' },
  offText: {
    phone: 'Hear from agents when they are stuck. You choose which events notify you, and which make a sound.',
    computer: 'On a computer they stay off until you turn them on here.'
  },
  turningOn: 'Turning on',
  turnOff: { phone: 'Turn off on this phone', computer: 'Turn off on this computer' },
  turningOff: 'Turning off',
  deniedSteps: {
    android: 'Tap the icon left of the address, then Permissions, then Notifications, and allow them.',
    ios: 'Open the Settings app, then Notifications, then Afield, and allow them.',
    safari: 'Open Safari Settings, then Websites, then Notifications, and allow them for this site.',
    computer: 'Click the icon left of the address and allow notifications. The system must allow them for this browser too.'
  },
  insecure: 'Without HTTPS no browser delivers notifications',
  insecureText: 'Open Afield over HTTPS, or use the ntfy app.',
  unsupported: 'This browser cannot show notifications',
  unsupportedText: 'Use another browser here, or use the ntfy app.',
  useNtfy: 'Use ntfy instead',
  pushService: 'The push service of this browser is not responding',
  pushServiceText: 'Some browsers have none, or have it turned off. Afield retries each time you open it.',
  notRegistered: 'The server does not know this device yet',
  notRegisteredText: 'Afield retries each time you open it.',
  registering: { phone: 'Turning on for this phone', computer: 'Turning on for this computer' },
  registeringText: 'Registering with the server.',

  // Delivery.
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
    lateText: 'It may still come. Check Do Not Disturb, focus modes and battery settings.',
    handedOver: 'Sent. This service does not report whether it was shown.',
    failed: 'The test could not be sent',
    failedText: 'The server is not responding.'
  },
  elsewhereMissing: (device: string, arrived: number, sent: number) => `${device} got only ${arrived} of ${sent}`,
  elsewhereFails: (channel: string) => `${channel} cannot be reached`,
  causes: {
    'held-back': 'Battery saver or a focus mode may hold them back.',
    'not-allowed':
      'The server is not allowed to reach that address. Its owner can allow the network, for example with --push-allow 192.168.1.0/24.',
    'wants-token': 'That server requires an access token. Remove it and add it again with the token.',
    'no-answer': 'That address is not responding. The server keeps retrying for a while.',
    gone: 'That address no longer exists. Remove it and add it again.',
    refused: 'The service there rejects them.'
  },
  causesHere: {
    android: [
      'Battery saver may hold them back',
      'In the system battery settings, let your browser or Afield run without limits. Check Do Not Disturb too.'
    ],
    ios: ['A focus mode may hold them back', 'In the Settings app, check Focus, and Afield under Notifications.'],
    computer: ['They arrive only while the browser runs', 'Let it run in the background, and check Do Not Disturb.'],
    gone: ['The subscription had expired', 'It has been renewed. Send a test.'],
    others: ['The push service rejects them', 'Turn notifications off and on again here.']
  },
  homeMissing: { phone: 'Notifications do not reach this phone', computer: 'Notifications do not reach this computer' },
  homeMissingWhy: 'See why',

  // Kinds.
  tellWhen: 'Notify me when',
  kinds: {
    decision: ['An agent needs my decision', 'Always on.'],
    finished: ['An agent has finished', 'After more than 30 s, or when started from a phone'],
    failed: ['An agent fails or goes silent', 'After 10 min without output'],
    machine: ['A computer goes offline', 'For 5 min, while one of its agents works']
  },
  how: { sound: 'With sound', silent: 'Silent', off: 'Off' },

  lockScreen: 'In the notification',
  previews: 'Show the command',
  previewsHint: 'Encrypted for this device. Off: “An agent needs you”.',
  previewsLocked: 'Off while App lock is on, so that nothing it protects is shown.',
  allowOnce: 'Allow once',
  allowOnceHint: 'For low-risk requests shown in full. Deny is always available.',
  allowOnceNeeds: 'Requires “Show the command”.',
  allowOnceTitle: 'Allow from a locked screen?',
  allowOnceText: {
    phone: 'Anyone holding this phone can then allow requests while it is locked. Riskier requests still open Afield.',
    computer: 'Anyone at this computer can then allow requests without opening Afield. Riskier requests still open it.'
  },
  allowOnceConfirm: 'Turn on',

  watched: 'While I use Afield',
  watchedHint: 'No notifications while Afield is open and was used within this time. After that, open decisions notify you.',
  watchedFor: (minutes: number) => (minutes === 0 ? 'Notify anyway' : `${minutes} min`),

  // Quiet hours.
  quiet: 'Quiet hours',
  quietOff: 'Off',
  quietFromTo: (from: string, to: string) => `${from} to ${to}`,
  quietAllDay: 'All day',
  quietOn: 'Quiet hours on this device',
  quietOnHint: 'In the time zone of this device.',
  from: 'From',
  to: 'To',
  days: 'Starting on',
  everyDay: 'every day',
  weekdays: 'Monday to Friday',
  weekend: 'Saturday and Sunday',
  keepHeading: 'What gets through',
  keep: {
    decisions: 'Only decisions, without sound',
    nothing: 'Nothing',
    collect: (at: string) => `Collect, notify me at ${at}`
  },
  keepHint: {
    decisions: 'The rest is dropped.',
    nothing: 'Decisions wait until you open Afield.',
    collect: 'One notification sums up what happened.'
  },
  collectAt: 'Notify me at',
  dayNeeded: 'Choose at least one day.',

  snooze: 'Snooze',
  snoozeHint: 'No notifications until then, not even decisions.',
  snoozeHour: 'For 1 h',
  snoozeTomorrow: 'Until tomorrow, 07:00',
  snoozed: (until: string) => `Snoozed until ${until}`,
  snoozeEnd: 'End snooze',

  // Escalation.
  unanswered: 'If I do not answer',
  unansweredWhen: 'When a decision stays open',
  unansweredOff: 'Notify no one else',
  unansweredAfter: (minutes: number) => `After ${minutes} min`,
  unansweredAlso: (minutes: number, channels: string) => `After ${minutes} min, also notify ${channels}`,
  unansweredTo: 'Then also notify',
  unansweredHint: 'These are notified of a decision only then, not right away.',
  unansweredOrder: 'They are notified one after the other while the decision is open.',
  unansweredSooner: (name: string) => `Notify ${name} sooner`,
  unansweredDeny: (choice: string, where: string) => `An agent can also continue without you: “${choice}”, in a session under ${where}.`,
  unansweredNobody: 'No other place to notify yet',
  unansweredNobodyText: 'Turn on notifications on another device, or add ntfy or a webhook.',

  // Channels.
  channels: 'Other places',
  channelsHint: 'Each follows the settings of the device it was added on.',
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
  channelSent: (sent: number) => plural(sent, { one: '1 sent in 7 days', other: `${sent} sent in 7 days` }),
  channelNone: 'Nothing sent in 7 days',
  channel: 'Other place',
  channelCause: 'Likely cause',
  channelUnknown: 'This place no longer exists',
  channelUnknownText: 'It was removed, here or on another device.',
  remove: 'Remove',
  removing: 'Removing',
  removed: 'Removed. It gets no more notifications.',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeApp: 'It gets no more notifications. It returns when the app is opened there.',
  removeAddress: 'It gets no more notifications. Adding it again requires its address.',
  notDone: 'That did not work',
  notDoneText: 'Nothing was changed. Check the connection and try again.',
  addNtfy: 'Add ntfy',
  addNtfyText: 'An app for phones, watches and desktops',
  addWebhook: 'Add a webhook',
  addWebhookText: 'For Home Assistant or your own program',

  // Adding ntfy.
  ntfyLead:
    'The ntfy app notifies you where a browser cannot: on a phone, watch or desktop. It learns only that an agent needs you, never what it does.',
  ntfyWhere: 'Server',
  ntfyPublic: 'ntfy.sh',
  ntfyOwn: 'My own',
  ntfyTopic: 'Topic',
  ntfyTopicHint: 'Randomly generated. Anyone who knows it can read it, so keep it secret.',
  ntfyAnother: 'Generate another',
  ntfyAddress: 'Address',
  ntfyAddressHint: 'Such as https://ntfy.example.org. A topic is generated if you give none.',
  ntfyAddressWrong: 'That is not a web address.',
  ntfyToken: 'Access token',
  ntfyTokenHint: 'Only if that server requires one.',
  ntfyFollow: 'Subscribe',
  ntfySteps: [
    'Install ntfy on the other device: from its app store, or from ntfy.sh.',
    'Open the link below there, or scan the code, or tap + in ntfy and type the topic.',
    'Come back here and send the test.'
  ],
  ntfyOpen: 'Open in ntfy',
  ntfyQr: 'The address of the topic as a code to scan',
  ntfyAdd: 'Add and send a test',
  adding: 'Adding',
  added: 'Added',
  addedText: 'The test was sent. It should appear there now.',
  addedWaiting: 'Added. The test is on its way.',
  addedFailed: 'Added, but the test was not delivered',
  addRefused: 'The server cannot use this',
  addRefusedText: 'It accepts https:// addresses, and http:// ones in networks that it allows.',
  done: 'Done',

  // Adding a webhook.
  webhookLead:
    'Your server posts JSON to this address, signed as in Standard Webhooks. It says only that an agent needs you, never what it does.',
  webhookHint: 'Such as https://home.example/api/webhook/a-hard-to-guess-name',
  webhookAdd: 'Add and send a test',
  webhookSecret: 'Signing secret',
  webhookOnce: 'Requests are signed with it. It is shown only once.',
  webhookCopy: 'Copy the secret',

  // One session.
  sessionTitle: 'Notifications of this session',
  sessionHint: 'On this device only.',
  sessionChoices: { all: 'All', decisions: 'Decisions only', off: 'Nothing' },

  // Saving the settings.
  readable:
    'Your server can read these settings: kinds, hours, time zone and who else is notified. It needs them to decide when to notify. What agents do stays encrypted.',
  saving: 'Saving',
  saved: 'Saved',
  unsavedShort: 'Not saved',
  unsaved: 'Not saved yet',
  unsavedText: 'The server is not responding. Your choice is kept while Afield is open, and saved when the server responds.',
  refused: 'The server rejected this',
  refusedText: 'Your choice has no effect.',
  noDevice: 'This sign-in cannot store settings',
  noDeviceText: 'It is a legacy sign-in. Link this device again.',
  reading: 'Loading settings',
  unread: 'The settings could not be loaded',
  unreadText: 'The server that stores them is not responding.',
  untold: 'This server has no notification settings',
  untoldText: 'A newer version of Afield does.'
} as const

export type NotificationWords = Translated<typeof english>

export const notifications = inLanguage('notifications', english)

const tenths = new Intl.NumberFormat(locale(), { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** A delay in reasonable precision: "1.2 s", "14 s", "3 min". */
export function delayInWords(ms: number): string {
  return ms < 9_950 ? notifications.seconds(tenths.format(ms / 1000)) : duration(ms)
}
