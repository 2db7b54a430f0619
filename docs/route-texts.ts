import type { ClientEvent } from '../lib/protocol/wire/events.ts'
import type { RouteName } from '../lib/protocol/wire/routes.ts'

/** Descriptions of the routes for docs/protocol.md. They are not next to the routes, because the app loads those and these take 2 kB compressed. */
export const routeTexts: Record<RouteName, string> = {
  readAccessKey: 'The access key of a session on a machine, null if there is none.',
  addAccessKey: 'Creates the access key of a session on a machine, at version 1.',
  writeAccessKey: 'Replaces the access key if its version is the expected one.',
  readProfile: 'The account, in the shape that existing apps expect.',
  readSettings: 'The sealed settings and their version.',
  writeSettings: 'Replaces the settings if the version is the expected one.',
  readLegacyLogin: 'Whether legacy sign-in is enabled: challenges chosen by the client, as existing apps use.',
  setLegacyLogin: 'Enables or disables legacy sign-in; `once` becomes `off` after the next one.',
  readStorage: 'How much the account stores and its quotas, and after how many days ended sessions are removed; null means never.',
  readSessionSizes: 'How many bytes each session of the account uses: its sealed messages and its attachments.',
  addPushToken: 'Registers a push token.',
  listPushTokens: 'The push tokens of the account, newest first.',
  removePushToken: 'Removes a push token; succeeds even if there is none.',
  listArtifacts: 'The 200 artifacts changed most recently, newest first, without their bodies.',
  readArtifact: 'One artifact with its body.',
  openArtifact: 'Creates an artifact, or returns the one with this id.',
  writeArtifact: 'Replaces header, body or both, if their versions are the expected ones. A part without an expected version is ignored.',
  removeArtifact: 'Removes an artifact.',
  requestUpload: 'Starts the upload of an attachment of at most 10 MiB. It is dropped if it receives no bytes for a day.',
  uploadAttachment:
    'Stores an attachment in one request. Repeating it with the same bytes succeeds; other bytes are rejected once the attachment is complete.',
  readUpload: 'The progress of an upload. An interrupted one continues at `offset`.',
  continueUpload:
    'Appends bytes starting at `at`, which must not be beyond the stored end; bytes already stored are skipped. A part may have any size, and bytes of an interrupted one are kept. Less than 4 KiB is ignored, unless it is the end. On slow connections, send at most 64 KiB at a time.',
  finishUpload:
    'Completes an upload if all bytes are stored and match this SHA-256 in base64url; on a mismatch the upload restarts from 0. It cannot be downloaded before.',
  requestDownload: 'The URL of an attachment.',
  downloadAttachment: 'The bytes of an attachment, or a range of them.',
  readChanges:
    'The rows changed after the clock `since` (the `seq` of an update), in clock order; 0 for all. While `more` is true, repeat with the `clock` of the answer as `since` ' +
    'and the same `began` and `epoch`. `active`, on the last page: everything that is active now. If `complete` is false, drop all rows and start at 0.',
  markReceipts:
    'Reports the last message that reached the machine of a session, and the last that its agent read. Each number only rises, at most to the last message.',
  callMethod:
    'Calls a method that a connection of the account serves, like the event `rpc-call`. 503: no connection serves it now and nothing was done; ' +
    '502 and 504: it is unknown whether it was done.',
  listDevices: 'The devices of this account, most recently used first.',
  renameDevice: 'Renames a device.',
  removeDevice:
    'Revokes the tokens of a device and closes its connections. The id `current` means the calling device; any other requires the scope `manage`.',
  listTokens: 'The named tokens of this account, for its own programs. Device tokens are not included.',
  createToken:
    'Creates a named token with scopes that the caller has too; without `expiresAt` it is valid until revoked. Its text is returned only here.',
  revokeToken:
    'Revokes a token and closes its connections; revoking a device token removes the device. The id `current` means the calling token; any other requires the scope `manage`.',
  readKvKey: 'The value of one key.',
  listKv: 'The keys with the prefix and their values, in order.',
  readKv: 'The values of several keys; keys without a value are omitted.',
  mutateKv:
    'Changes several keys, all or none, each if its version is the expected one: -1 for a new key. A value of null removes the key.',
  openMachine: 'Registers a machine, or returns the one with this id. Metadata of at most 1 MiB, daemon state of at most 4 MiB.',
  listMachines: 'All machines, most recently seen first.',
  readMachine: 'One machine.',
  removeMachine: 'Removes a machine; its sessions stay.',
  askPairing:
    'A terminal or a device requests pairing. `publicKey` (X25519): the answer is sealed for it. `deviceKey` (Ed25519): signs token renewals. `pollHash`: the SHA-256 of the secret used for polling. `origin`: the address used for renewals; rejected if the server does not have it. `about`: a description of the requester for those with its link, sealed.',
  readPairing:
    'Who requests pairing, from which network, and until when; for those with the link of the request. `isYours`: the calling account approved it.',
  pollPairing:
    'The requester polls for the answer, and gets the same answer each time until the request expires; its token is sealed for the key of the requester.',
  approvePairing:
    'Approves a pairing request. `response` can be opened only by the requester; `signature` is made with the key of the account over the request, its keys, the response and the origin.',
  rejectPairing: 'Rejects a request, for example after three wrong check codes.',
  notify:
    'Reports an event of a session to the apps, and notifies the phones unless someone is using an app. `data` is not forwarded. ' +
    'Ours: a `done` turn with `turnMs` below 30 s causes no notification, unless it was `startedFrom` the phone; `noticeId` identifies the ' +
    'notice, so that a repeat is delivered once and `settled` can close it (without an id it closes all of the session); `preview` is ' +
    'sealed for the devices of the account; the kinds `failed`, `silent` and `settled`. A notice is stored until it is delivered, permanently rejected or expired.',
  readPushKey: 'The public key with which this server signs Web Push requests, for `PushManager.subscribe`: base64url.',
  acknowledgePush:
    'Acknowledges a notice with the receipt it contained; counted once, and only for the device that registered the channel.',
  readNotifications:
    'The notification settings of this device, and the delivery statistics of each channel of the account. `settings` is null if the caller is not a device. ' +
    'The address of a channel is never returned.',
  writeNotifications: 'Replaces the notification settings of this device and of the channels it registered.',
  testNotification:
    'Sends a test to one channel, or to all of the account, regardless of the settings; returns the result of the first attempt.',
  removeChannel: 'Removes a channel by its id; succeeds even if there is none.',
  openSession: 'Creates a session, or returns the one with this tag. Metadata of at most 1 MiB, agent state of at most 4 MiB.',
  listSessions: 'The 150 sessions changed most recently, newest first; fewer if they are very large.',
  listActiveSessions: 'The sessions with a heartbeat within 15 minutes, newest first.',
  pageSessions: 'A page of sessions by id, descending; `changedSince` omits those that have not changed since.',
  archiveSession: 'Marks a session as no longer active.',
  removeSession: 'Removes a session with all its messages.',
  readLatestMessages: 'The newest 150 messages, newest first.',
  readMessages: 'A page of messages: ascending after `after_seq`, or descending before `before_seq`.',
  appendMessages: 'Stores messages, each at most once per localId, and numbers new ones in the order given.',
  signIn: 'Signs in with a signature over a fresh challenge; creates the account if the sign-up policy allows it.',
  issueNonce: 'A nonce to sign, valid once and for a minute, and the id of the key that identifies this server.',
  freshSignIn:
    'Signs in a device with the key of the account, or renews the token of a signed-in device with its own key. The signature is Ed25519ph over `afield-auth-v2\\0`, the server key id, the origin, the nonce, the device key and the purpose.',
  removeOwnAccount:
    'Removes the account and all its data, permanently. Signed like a sign-in by the key of the account, with the purpose `delete-account`.',
  pollTerminalPairing: 'A terminal requests pairing, and polls until it is answered. The answer is returned once.',
  readPairingStatus: 'Whether a pairing request waits for an answer.',
  answerTerminalPairing: 'The app answers the request of a terminal with a box that only this terminal can open.',
  pollDevicePairing: 'A new device requests to join an account, and polls until it is answered.',
  answerDevicePairing: 'A device of the account answers the request of a new one.',
  listSignups: 'Sign-up requests waiting for approval, newest first. The name of the client is its own claim. Owner only.',
  approveSignup: 'Approves a sign-up request: signing in again within 15 minutes creates the account. Owner only.',
  rejectSignup: 'Rejects a sign-up request, for 15 minutes. Owner only.',
  listInvites: 'The invitations of this server, newest first. Owner only.',
  createInvite:
    'Creates an invitation for one account, valid for 24 hours. Its code is returned only here; the link is `<server>/#invite=<code>`. Owner only.',
  revokeInvite: 'Revokes an invitation. Owner only.',
  openInvite:
    'Admits one new key from the network of the caller within five minutes, for apps that cannot send the code when they sign in.',
  listFriends: 'Always empty: accounts of this server do not see each other.',
  addFriend: 'Never finds an account.',
  removeFriend: 'Never finds an account.',
  readFeed: 'Always empty, since there are no friends.',
  searchUsers: 'Never finds an account.',
  readUser: 'Refused for every id, even that of the caller.',
  checkVersion: 'Never asks an app to update.',
  startGithub: 'Refused: GitHub is not supported.',
  finishGithub: 'Refused: GitHub is not supported.',
  hearGithub: 'Refused: GitHub is not supported.',
  disconnectGithub: 'Succeeds: nothing is connected.',
  registerVendorToken: 'Refused: this server stores nothing that it could read.',
  readVendorToken: 'Always null.',
  listVendorTokens: 'Always empty.',
  removeVendorToken: 'Succeeds: nothing is stored.',
  startVoice: 'Refused: voice is not supported.',
  readVoiceUsage: 'No usage and no allowance.',
  queryUsage: 'Agent usage summed by hour or day (UTC), for one session or all. Times are in seconds, inclusive.'
}

/** Descriptions of the events from client to server. */
export const eventTexts: Record<ClientEvent, string> = {
  ping: 'Answered once everything sent before it has been processed.',
  'update-metadata': 'Replaces the metadata of a session if the version is the expected one.',
  'update-state': 'Replaces the agent state of a session if the version is the expected one.',
  'session-alive': 'Heartbeat of a session, and whether its agent is working.',
  'session-end': 'The session has ended.',
  message: 'Stores one message and sends it to all connections except the sender.',
  'machine-alive': 'Heartbeat of a machine.',
  'machine-update-metadata': 'Replaces the metadata of a machine if the version is the expected one.',
  'machine-update-state': 'Replaces the daemon state of a machine if the version is the expected one.',
  'rpc-register': 'This connection starts serving the method.',
  'rpc-unregister': 'This connection stops serving the method.',
  'rpc-call': 'Calls a method that another connection of the account serves.',
  'app-state':
    'Whether a person uses this app, and for how long that is valid (ours; without it, until the next event); and whether growing text is sent to it (if omitted, unchanged).',
  'usage-report': 'Total usage of an agent; replaces the last report with the same session and key.',
  'artifact-read': 'One artifact with its body.',
  'artifact-create': 'Creates an artifact, or returns the one with this id.',
  'artifact-update': 'Replaces header, body or both if the versions are the expected ones; a mismatch returns the stored ones.',
  'artifact-delete': 'Removes an artifact.',
  'access-key-get': 'The access key of a session on a machine, null if there is none.',
  partial: 'Growing text, forwarded to the apps that show the session and never stored.'
}
