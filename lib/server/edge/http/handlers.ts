import type { ServerOptions } from '../../../options.ts'
import { failureWithBody } from '../../../protocol/wire/failures.ts'
import type { Sealed } from '../../../protocol/wire/ids.ts'
import type { BodyOf, OpenRouteName, ParamsOf, QueryOf, ReplyOf, RouteName } from '../../../protocol/wire/routes.ts'
import { addAccessKey, readAccessKey, writeAccessKey } from '../../actions/access-keys.ts'
import {
  readLegacyLogin,
  readProfile,
  readSessionSizes,
  readSettings,
  readStorage,
  setLegacyLogin,
  writeSettings
} from '../../actions/account/account.ts'
import { listDevices, removeDevice, renameDevice } from '../../actions/account/devices.ts'
import { createInvite, listInvites, openInvite, revokeInvite } from '../../actions/account/invites.ts'
import { decideSignup, listSignups, type SignupPolicy } from '../../actions/account/signup.ts'
import { createToken, listTokens, revokeToken } from '../../actions/account/tokens.ts'
import { listArtifacts, openArtifact, readArtifact, removeArtifact, writeArtifact } from '../../actions/artifacts.ts'
import { callMethod } from '../../actions/calls/call-method.ts'
import type { Calls } from '../../actions/calls/calls.ts'
import { readChanges } from '../../actions/changes.ts'
import { listKv, mutateKv, readKv, readKvKey } from '../../actions/kv.ts'
import { listMachines, openMachine, readMachine, removeMachine } from '../../actions/machines.ts'
import { type NotifyDeps, notify } from '../../actions/notify/notify.ts'
import {
  acknowledgePush,
  addPushToken,
  listPushTokens,
  readNotifications,
  removeChannel,
  removePushToken,
  testNotification,
  writeNotifications
} from '../../actions/notify/push-tokens.ts'
import {
  attachmentPath,
  continueUpload,
  type File,
  fileOf,
  findAttachment,
  finishUpload,
  readUpload,
  refOf,
  requestUpload,
  uploadAttachment
} from '../../actions/sessions/attachments.ts'
import { appendMessages, readLatestMessages, readMessages } from '../../actions/sessions/messages.ts'
import { markReceipts } from '../../actions/sessions/receipts.ts'
import {
  archiveSession,
  listActiveSessions,
  listSessions,
  openSession,
  pageSessions,
  removeSession
} from '../../actions/sessions/sessions.ts'
import { freshSignIn, type Identity, issueNonce, removeOwnAccount } from '../../actions/sign-in/fresh-login.ts'
import { signIn } from '../../actions/sign-in/login.ts'
import { answerPairing, pollPairing, readPairingStatus } from '../../actions/sign-in/pair.ts'
import { approvePairing, askPairing, pollPairingRequest, readPairing, rejectPairing } from '../../actions/sign-in/pairing-requests.ts'
import { queryUsage } from '../../actions/usage.ts'
import type { LeftoverSweep } from '../../chores/leftover-sweep.ts'
import type { Presence } from '../../chores/presence.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import {
  artifactHeadOf,
  artifactRecordOf,
  changesReplyOf,
  filled,
  listedMachineOf,
  listedSessionOf,
  machineRecordOf,
  messageReceiptOf,
  messageRecordOf,
  sessionRecordOf,
  uploadOf
} from '../../records.ts'
import type { Sender } from './request.ts'
import { unsupportedHandlers } from './unsupported.ts'

export interface Asked<Name extends RouteName> {
  caller: Name extends OpenRouteName ? undefined : Caller
  params: ParamsOf<Name>
  query: QueryOf<Name>
  body: BodyOf<Name>
  from: Name extends OpenRouteName ? Sender : undefined
  /** Aborts when the client has disconnected. */
  gone: () => AbortSignal
  /** Of this server; only set for routes that return URLs. */
  address: string
}

export type HttpHandlers = { [Name in RouteName]: (asked: Asked<Name>) => Promise<ReplyOf<Name>> }

const ok = { success: true } as const

/** Maps each route to its action, and the result to the wire format. */
export function createHttpHandlers(
  deps: Deps &
    NotifyDeps & {
      presence: Presence
      calls: Pick<Calls, 'call'>
      signup: SignupPolicy
      identity: Identity
      limits: Limits
      legacyPairing: ServerOptions['legacyPairing']
      keepSessionsDays: ServerOptions['keepSessionsDays']
      leftoverSweep: LeftoverSweep
      /** How push services identify this server. */
      pushKey: string
    }
): HttpHandlers {
  return {
    signIn: async ({ body, from }) => ({ success: true, ...(await signIn(deps, body, from)) }),
    askPairing: ({ body, from }) => askPairing(deps, body, from),
    readPairing: ({ caller, params }) => readPairing(deps, caller, params.id),
    pollPairing: ({ params, body, from }) => pollPairingRequest(deps, params.id, body, from),
    approvePairing: ({ caller, params, body }) => approvePairing(deps, caller, params.id, body).then(() => ok),
    rejectPairing: ({ params }) => rejectPairing(deps, params.id).then(() => ok),
    removeOwnAccount: ({ caller, body }) => removeOwnAccount(deps, caller, body).then(() => ok),
    issueNonce: () => issueNonce(deps),
    freshSignIn: ({ body, from }) => freshSignIn(deps, body, from),
    pollTerminalPairing: ({ body, from }) => pollPairing(deps, 'terminal', body, from),
    pollDevicePairing: ({ body, from }) => pollPairing(deps, 'device', body, from),
    readPairingStatus: ({ query }) => readPairingStatus(deps, query.publicKey),
    answerTerminalPairing: ({ caller, body }) => answerPairing(deps, caller, 'terminal', body).then(() => ok),
    answerDevicePairing: ({ caller, body }) => answerPairing(deps, caller, 'device', body).then(() => ok),
    listDevices: async ({ caller }) => ({ devices: await listDevices(deps, caller) }),
    renameDevice: ({ caller, params, body }) => renameDevice(deps, caller, params.id, body.name).then(() => ok),
    removeDevice: ({ caller, params }) => removeDevice(deps, caller, params.id).then(() => ok),
    listTokens: async ({ caller }) => ({ tokens: (await listTokens(deps, caller)).map(({ label: name, ...row }) => ({ name, ...row })) }),
    createToken: ({ caller, body }) => createToken(deps, caller, body),
    revokeToken: ({ caller, params }) => revokeToken(deps, caller, params.id).then(() => ok),

    listSignups: async ({ caller }) => ({ signups: await listSignups(deps, caller) }),
    approveSignup: ({ caller, params }) => decideSignup(deps, caller, params.fingerprint, 'approved').then(() => ok),
    rejectSignup: ({ caller, params }) => decideSignup(deps, caller, params.fingerprint, 'rejected').then(() => ok),
    listInvites: async ({ caller }) => ({ invites: await listInvites(deps, caller) }),
    createInvite: ({ caller, body }) => createInvite(deps, caller, body.label ?? ''),
    revokeInvite: ({ caller, params }) => revokeInvite(deps, caller, params.id).then(() => ok),
    openInvite: ({ body, from }) => openInvite(deps, body.code, from),

    openSession: async ({ caller, body }) => ({ session: listedSessionOf(await openSession(deps, caller, body)) }),
    listSessions: async ({ caller }) => ({ sessions: (await listSessions(deps, caller)).map(listedSessionOf) }),
    listActiveSessions: async ({ caller, query }) => ({
      sessions: (await listActiveSessions(deps, caller, query.limit)).map(sessionRecordOf)
    }),
    async pageSessions({ caller, query }) {
      const { sessions, nextCursor } = await pageSessions(deps, caller, query)
      return { sessions: sessions.map(sessionRecordOf), nextCursor, hasNext: nextCursor !== null }
    },
    archiveSession: ({ caller, params }) => archiveSession(deps, caller, params.id).then(() => ok),
    removeSession: ({ caller, params }) => removeSession(deps, caller, params.id).then(() => ok),
    async readLatestMessages({ caller, params }) {
      const messages = await readLatestMessages(deps, caller, params.id)
      return { messages: messages.map(message => messageRecordOf(params.id, message)) }
    },
    async readMessages({ caller, params, query }) {
      const { messages, more } = await readMessages(deps, caller, params.id, query)
      return { messages: messages.map(message => messageRecordOf(params.id, message)), hasMore: more }
    },
    async appendMessages({ caller, params, body }) {
      const drafts = body.messages.map(({ content, localId }) => ({ sealed: content, localId }))
      const messages = await appendMessages(deps, caller, params.id, drafts)
      return { messages: messages.map(message => messageReceiptOf(params.id, message)) }
    },

    openMachine: async ({ caller, body }) => ({ machine: machineRecordOf(await openMachine(deps, caller, body)) }),
    listMachines: async ({ caller }) => (await listMachines(deps, caller)).map(listedMachineOf),
    readMachine: async ({ caller, params }) => ({ machine: listedMachineOf(await readMachine(deps, caller, params.id)) }),
    removeMachine: ({ caller, params }) => removeMachine(deps, caller, params.id).then(() => ok),

    readProfile: ({ caller }) => readProfile(deps, caller),
    async readSettings({ caller }) {
      const { value, version } = await readSettings(deps, caller)
      return { settings: value, settingsVersion: version }
    },
    async writeSettings({ caller, body }) {
      const outcome = await writeSettings(deps, caller, body.settings, body.expectedVersion)
      if (outcome.written) return { success: true, version: outcome.version }
      const { value, version } = outcome.current
      return { success: false, error: 'version-mismatch', currentVersion: version, currentSettings: value }
    },

    readLegacyLogin: async ({ caller }) => ({ legacyLogin: await readLegacyLogin(deps, caller) }),
    readStorage: ({ caller }) => readStorage(deps, caller),
    readSessionSizes: async ({ caller }) => ({ sessions: await readSessionSizes(deps, caller) }),
    setLegacyLogin: ({ caller, body }) => setLegacyLogin(deps, caller, body.legacyLogin).then(() => ok),

    addPushToken: ({ caller, body }) => addPushToken(deps, caller, body.token).then(() => ok),
    listPushTokens: async ({ caller }) => ({ tokens: await listPushTokens(deps, caller) }),
    removePushToken: ({ caller, params }) => removePushToken(deps, caller, params.token).then(() => ok),
    readPushKey: async () => ({ key: deps.pushKey }),
    acknowledgePush: ({ caller, body }) => acknowledgePush(deps, caller, body.receipt).then(() => ok),
    readNotifications: ({ caller }) => readNotifications(deps, caller),
    writeNotifications: ({ caller, body }) => writeNotifications(deps, caller, body).then(() => ok),
    testNotification: ({ caller, body }) => testNotification(deps, caller, body.channel),
    removeChannel: ({ caller, params }) => removeChannel(deps, caller, params.id).then(() => ok),
    notify: async ({ caller, params, body }) => ({ success: true, ...(await notify(deps, caller, params.id, body)) }),

    listArtifacts: async ({ caller }) => (await listArtifacts(deps, caller)).map(artifactHeadOf),
    readArtifact: async ({ caller, params }) => artifactRecordOf(await readArtifact(deps, caller, params.id)),
    openArtifact: async ({ caller, body }) => artifactRecordOf(await openArtifact(deps, caller, body)),
    async writeArtifact({ caller, params, body }) {
      const newHeader = partOf(body.header, body.expectedHeaderVersion)
      const newBody = partOf(body.body, body.expectedBodyVersion)
      const parts = { ...(newHeader && { header: newHeader }), ...(newBody && { body: newBody }) }
      const { written, header, body: text } = await writeArtifact(deps, caller, params.id, parts)
      if (written) return { success: true, headerVersion: header?.version, bodyVersion: text?.version }
      return {
        success: false,
        error: 'version-mismatch',
        ...(header && { currentHeaderVersion: header.version, currentHeader: header.value }),
        ...(text && { currentBodyVersion: text.version, currentBody: text.value })
      }
    },
    removeArtifact: ({ caller, params }) => removeArtifact(deps, caller, params.id).then(() => ok),

    async requestUpload({ caller, params, body, address }) {
      const file = await requestUpload(deps, caller, params.id, body.size)
      return { ref: refOf(file), uploadUrl: address + attachmentPath(file), method: 'PUT' }
    },
    uploadAttachment: ({ caller, params, body }) => uploadAttachment(deps, caller, fileIn(params), body).then(() => ({ ok: true })),
    readUpload: async ({ caller, params }) => uploadOf(await readUpload(deps, caller, fileIn(params))),
    continueUpload: async ({ caller, params, query, body }) => uploadOf(await continueUpload(deps, caller, fileIn(params), query.at, body)),
    finishUpload: ({ caller, params, body }) => finishUpload(deps, caller, fileIn(params), body.sha256).then(() => ok),
    async requestDownload({ caller, params, body, address }) {
      const file = fileOf(params.id, body.ref)
      await findAttachment(deps, caller, file)
      return { downloadUrl: address + attachmentPath(file) }
    },
    downloadAttachment: ({ caller, params }) => findAttachment(deps, caller, fileIn(params)),

    readKvKey: ({ caller, params }) => readKvKey(deps, caller, params.key),
    listKv: async ({ caller, query }) => ({ items: await listKv(deps, caller, query) }),
    readKv: async ({ caller, body }) => ({ values: await readKv(deps, caller, body.keys) }),
    async mutateKv({ caller, body }) {
      const outcome = await mutateKv(deps, caller, body.mutations)
      if (outcome.written) return { success: true, results: outcome.changes.map(({ key, version }) => ({ key, version })) }
      const errors = outcome.conflicts.map(conflict => ({ ...conflict, error: 'version-mismatch' }))
      throw failureWithBody('kv-conflict', { success: false, errors })
    },

    readAccessKey: async ({ caller, params }) => ({ accessKey: await readAccessKey(deps, caller, placeOf(params)) }),
    addAccessKey: async ({ caller, params, body }) => ({
      success: true,
      accessKey: await addAccessKey(deps, caller, placeOf(params), body.data)
    }),
    async writeAccessKey({ caller, params, body }) {
      const outcome = await writeAccessKey(deps, caller, placeOf(params), body)
      if (outcome.written) return { success: true, version: outcome.version }
      const { version, value } = outcome.current
      return { success: false, error: 'version-mismatch', currentVersion: version, currentData: filled({ version, value }) }
    },

    queryUsage: ({ caller, body }) => queryUsage(deps, caller, body),

    readChanges: async ({ caller, query }) => changesReplyOf(await readChanges(deps, caller, query)),
    markReceipts: ({ caller, params, body }) => markReceipts(deps, caller, params.id, body),
    callMethod: ({ caller, body, gone }) => callMethod(deps, caller, body, gone()).then(result => ({ result })),

    ...unsupportedHandlers
  }
}

function partOf(value: Sealed | undefined, expected: number | undefined) {
  return value === undefined || expected === undefined ? undefined : { expected, value }
}

function fileIn({ id, file }: ParamsOf<'downloadAttachment'>): File {
  return { session: id, id: file }
}

function placeOf({ sessionId, machineId }: ParamsOf<'readAccessKey'>) {
  return { session: sessionId, machine: machineId }
}
