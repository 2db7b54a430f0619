import type { ClientEvent } from '../lib/protocol/wire/events.ts'
import type { RouteName } from '../lib/protocol/wire/routes.ts'

/** What each route is for, on the page of the protocol. Not beside the routes, which the app loads: these are 2 kB compressed. */
export const routeTexts: Record<RouteName, string> = {
  readAccessKey: 'The access key of a session on a machine, null when there is none.',
  addAccessKey: 'Makes the access key of a session on a machine, at version 1.',
  writeAccessKey: 'Replaces the access key if its version is the expected one.',
  readProfile: 'The account, in the shape existing apps want.',
  readSettings: 'The sealed settings and their version.',
  writeSettings: 'Replaces the settings if the version is the expected one.',
  readLegacyLogin: 'Whether the account takes sign-ins over challenges that clients choose, as existing apps do.',
  setLegacyLogin: 'Says whether it does from now on; `once` becomes `off` with the next one.',
  readStorage:
    'How much the account keeps here and how much it may, and after how many days sessions that ended are removed; null for without an end.',
  readSessionSizes: 'How many bytes each session of the account keeps here: its sealed messages and its attachments.',
  addPushToken: 'Remembers where to send notifications.',
  listPushTokens: 'The push tokens of the account, newest first.',
  removePushToken: 'Forgets a push token; succeeds also when it is not there.',
  listArtifacts: 'The 200 artifacts that changed last, newest first, without their bodies.',
  readArtifact: 'One artifact with its body.',
  openArtifact: 'Makes an artifact, or loads the one that has this id.',
  writeArtifact: 'Replaces header, body or both, if the versions are the expected ones. A part without its expected version is ignored.',
  removeArtifact: 'Removes an artifact.',
  requestUpload: 'Makes a place for an attachment of at most 10 MiB. One that gets no bytes for a day is forgotten.',
  uploadAttachment:
    'Stores an attachment in one go. Sent again, the same bytes are answered with success; others are refused once it is whole.',
  readUpload: 'How far an upload is. What was cut off goes on from `offset`.',
  continueUpload:
    'Adds bytes from `at` on, which must not lie behind what is stored; what is stored already is passed over. Any part may be sent, and of one that is cut off what came is kept. Less than 4 KiB is passed over, unless it is the end. Slow connections do best with 64 KiB or less at a time.',
  finishUpload:
    'Makes an upload an attachment, if all of it is there and has this SHA-256 in base64url; with another digest it begins anew. Until then nobody can download it.',
  requestDownload: 'Where an attachment is downloaded.',
  downloadAttachment: 'The bytes of an attachment, or a range of them.',
  readChanges:
    'The rows that changed after a clock, which is the `seq` of an update, in its order; 0 for all. While there are `more`, ask with `since` the `clock` ' +
    'of the answer and the same `began` and `epoch`. `active`, at the end: everything that is active now. `complete` false: forget every row and begin at 0.',
  markReceipts:
    'Says up to which message a session came to its machine, and to its agent. Each number only rises, to the last message at most.',
  callMethod:
    'Calls a method that a connection of the account answers, as the event `rpc-call` does. 503: nobody answers for it now and nothing was done; ' +
    '502 and 504: whether it was done is unknown.',
  listDevices: 'The devices of this account, the one used last first.',
  renameDevice: 'Gives a device another name.',
  removeDevice:
    'Ends the sign-ins of a device and closes its connections. The id `current` names the one that asks; another than that needs the scope `manage`.',
  listTokens: 'The named tokens of this account, for programs of its own. The tokens of devices are not among them.',
  createToken:
    'Makes a named token with scopes that the caller has too; without `expiresAt` it ends when it is revoked. Its text is told this once.',
  revokeToken:
    'Ends a token and closes its connections; one of a device ends the device. The id `current` names the one that asks; another than that needs the scope `manage`.',
  readKvKey: 'The value of one key.',
  listKv: 'The keys that begin with the prefix, with their values, in order.',
  readKv: 'The values of several keys; those without one are left out.',
  mutateKv: 'Changes keys, all or none, each over the version it names: -1 for a key nobody has written. A value of null removes the key.',
  openMachine: 'Registers a machine, or loads the one that has this id. Metadata of at most 1 MiB, daemon state of at most 4 MiB.',
  listMachines: 'All machines, the one seen last first.',
  readMachine: 'One machine.',
  removeMachine: 'Removes a machine; its sessions stay.',
  askPairing:
    'A terminal or a device asks to be paired. `publicKey` (X25519) is what the answer is sealed for, `deviceKey` (Ed25519) what it will renew its token with, `pollHash` the SHA-256 of the secret it polls with, `origin` the address under which it will renew, refused when it is not one of the server, `about` what it says of itself to whoever has its link, sealed.',
  readPairing:
    'Who asks, from which network and for how long still, for whoever was shown the link of the request; `isYours`: the account that asks here let it in.',
  pollPairing:
    'The asker asks whether it is answered, and is given the same answer again until the request ends; its token is sealed for the key of the asker.',
  approvePairing:
    'Lets the asker in. `response` is what only it can open; `signature` is that of the key of the account over the request, its keys, the response and the origin.',
  rejectPairing: 'Ends a request, as after three wrong check codes.',
  notify:
    'Tells the apps of an event in a session, and notifies the phones unless somebody is looking at an app. `data` is not passed on. ' +
    'Ours: a turn that is `done` within `turnMs` of 30 s notifies nobody, unless it was `startedFrom` the phone; `noticeId` names the ' +
    'notice, so that a repeat is not told twice and `settled` can end it (without an id it ends all of the session); `preview` is ' +
    'sealed for the devices of the account; the kinds `failed`, `silent` and `settled`. A notice is kept until it is handed over, refused for good or expired.',
  readPushKey: 'The public key with which this server signs Web Push requests, for `PushManager.subscribe`: base64url.',
  acknowledgePush:
    'Says that a notice arrived, by the receipt it carried; counted once, and for the device that registered the channel only.',
  readNotifications:
    'When this device is notified, and how well each channel of the account is reached. `settings` is null for callers that are no device. ' +
    'What a channel leads to is never told, only that it is there.',
  writeNotifications: 'Replaces when this device, with the channels it registered, is notified.',
  testNotification: 'Sends a test to one channel, or to all of the account, whatever the settings say; answers what came of the first try.',
  removeChannel: 'Forgets a channel by its id; succeeds also when it is not there.',
  openSession: 'Creates a session, or loads the one that has this tag. Metadata of at most 1 MiB, agent state of at most 4 MiB.',
  listSessions: 'The 150 sessions that changed last, newest first; fewer when they are huge.',
  listActiveSessions: 'The sessions that showed a sign of life within 15 minutes, the latest first.',
  pageSessions: 'A page of the sessions by id, descending; `changedSince` leaves out those that did not change after it.',
  archiveSession: 'Marks a session as no longer active.',
  removeSession: 'Removes a session with all its messages.',
  readLatestMessages: 'The newest 150 messages, newest first.',
  readMessages: 'A page of messages: ascending after `after_seq`, or descending before `before_seq`.',
  appendMessages: 'Stores messages, each at most once per localId, and numbers the new ones in the order given.',
  signIn: 'Signs in with a signature over a fresh challenge; creates the account when the sign-up policy allows it.',
  issueNonce: 'A nonce to sign, good once and for a minute, and the id of the key by which this server is known.',
  freshSignIn:
    'Signs in a device with the key of the account, or renews the token of one that is signed in with its own. The signature is Ed25519ph over `afield-auth-v2\\0`, the server key id, the origin, the nonce, the device key and the purpose.',
  removeOwnAccount:
    'Removes the account with everything it has, for ever. Signed like a sign-in by the key of the account, with the purpose `delete-account`.',
  pollTerminalPairing: 'A terminal asks to be paired, and asks again until it is answered. The answer is handed out once.',
  readPairingStatus: 'Whether a pairing request waits for an answer.',
  answerTerminalPairing: 'The app answers the request of a terminal with a box only that terminal can open.',
  pollDevicePairing: 'A new device asks to join an account, and asks again until it is answered.',
  answerDevicePairing: 'A device of the account answers the request of a new one.',
  listSignups: 'Who waits to be let in, the one who asked last first. The client names itself as it likes. For the owner only.',
  approveSignup: 'Lets somebody in who waits: signing in again within 15 minutes creates the account. For the owner only.',
  rejectSignup: 'Turns away somebody who waits, for 15 minutes. For the owner only.',
  listInvites: 'The invitations of this server, the newest first. For the owner only.',
  createInvite:
    'Makes an invitation for one account, good for 24 hours. Its code is told this once; the link is `<server>/#invite=<code>`. For the owner only.',
  revokeInvite: 'Ends an invitation. For the owner only.',
  openInvite:
    'Lets one new key from the network of the caller in within five minutes, for apps that cannot hand in the code when they sign in.',
  listFriends: 'Always empty: accounts of this server do not see each other.',
  addFriend: 'Finds nobody.',
  removeFriend: 'Finds nobody.',
  readFeed: 'Always empty, as there is nobody to hear from.',
  searchUsers: 'Finds nobody.',
  readUser: 'Refused for every id, also for the own one.',
  checkVersion: 'Never asks an app to update.',
  startGithub: 'Refused: GitHub is not offered.',
  finishGithub: 'Refused: GitHub is not offered.',
  hearGithub: 'Refused: GitHub is not offered.',
  disconnectGithub: 'Succeeds: nothing is connected.',
  registerVendorToken: 'Refused: this server keeps nothing it could read.',
  readVendorToken: 'Always null.',
  listVendorTokens: 'Always empty.',
  removeVendorToken: 'Succeeds: nothing is kept.',
  startVoice: 'Refused: voice is not offered.',
  readVoiceUsage: 'Nothing used and nothing left.',
  queryUsage: 'Sums of what agents used by hour or day (UTC), of one session or all. Times are in seconds, both included.'
}

/** What each event from client to server is for, likewise. */
export const eventTexts: Record<ClientEvent, string> = {
  ping: 'Answered once everything sent before it was taken in.',
  'update-metadata': 'Replaces the metadata of a session over the expected version.',
  'update-state': 'Replaces the agent state of a session over the expected version.',
  'session-alive': 'The session lives, and whether its agent is at work.',
  'session-end': 'The session has ended.',
  message: 'Stores one message; everybody but the sender hears of it.',
  'machine-alive': 'The machine lives.',
  'machine-update-metadata': 'Replaces the metadata of a machine over the expected version.',
  'machine-update-state': 'Replaces the daemon state of a machine over the expected version.',
  'rpc-register': 'This connection answers calls of the method from now on.',
  'rpc-unregister': 'This connection no longer answers calls of the method.',
  'rpc-call': 'Calls a method that another connection of the account answers.',
  'app-state':
    'Whether a person looks at this app, and for how long that counts (ours; without it until the next); and whether text that still grows is sent to it, which stays as it was when it is left out.',
  'usage-report': 'What an agent used so far; replaces the last report of the same session and key.',
  'artifact-read': 'One artifact with its body.',
  'artifact-create': 'Makes an artifact, or loads the one that has this id.',
  'artifact-update': 'Replaces header, body or both over the expected versions; a mismatch says what is there.',
  'artifact-delete': 'Removes an artifact.',
  'access-key-get': 'The access key of a session on a machine, null when there is none.',
  partial: 'Text that is still growing, handed on to those who look and never stored.'
}
