import * as z from 'zod'
import { localId, machineId, sealed, sessionId, tokenId, version } from './ids.ts'
import {
  accountProfile,
  listedMachine,
  listedSession,
  machineRecord,
  messageReceipt,
  messageRecord,
  pushTokenRecord,
  tokenRecord
} from './records.ts'

export interface Route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Reply extends z.ZodType> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments that begin with a colon are parameters, percent-decoded. */
  path: string
  auth: 'none' | 'account'
  /** Largest body in bytes; more is refused while it is still arriving. */
  limit: number
  /** True for routes that existing clients do not know. */
  ours: boolean
  about: string
  params: Params
  query: Query
  body: Body
  reply: Reply
}

const nothing = z.object({})
const kib = 1024
const ok = z.object({ success: z.literal(true) })
/** What a person calls the device, for the list of sign-ins. */
const deviceName = z.string().max(100)
/** Base64 text whose bytes are checked where they are used. */
const bytes = (most: number) => z.string().max(most)
const sessionParams = z.object({ id: sessionId })
const machineParams = z.object({ id: machineId })
const wholeNumber = z
  .string()
  .regex(/^\d{1,10}$/, 'a whole number')
  .transform(Number)

/** Every HTTP route the server answers: one definition for server, wrapper, app and the generated protocol page. */
export const routes = {
  signIn: route({
    method: 'POST',
    path: '/v1/auth',
    auth: 'none',
    limit: 2 * kib,
    about: 'Signs in with a signature over a fresh challenge; creates the account when the sign-up policy allows it.',
    body: z.object({
      publicKey: bytes(64),
      challenge: bytes(128),
      signature: bytes(128),
      setupCode: z.string().max(64).optional(),
      deviceName: deviceName.optional()
    }),
    reply: z.object({ success: z.literal(true), token: z.string() })
  }),
  pollTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/request',
    auth: 'none',
    limit: 2 * kib,
    about: 'A terminal asks to be paired, and asks again until it is answered. The answer is handed out once.',
    body: z.object({ publicKey: bytes(64), supportsV2: z.boolean().nullish(), deviceName: deviceName.optional() }),
    reply: pairingReply()
  }),
  readPairingStatus: route({
    method: 'GET',
    path: '/v1/auth/request/status',
    auth: 'none',
    limit: 0,
    about: 'Whether a pairing request waits for an answer.',
    query: z.object({ publicKey: z.string().max(200).default('') }),
    reply: z.object({ status: z.enum(['not_found', 'pending', 'authorized']), supportsV2: z.boolean() })
  }),
  answerTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/response',
    auth: 'account',
    limit: 2 * kib,
    about: 'The app answers the request of a terminal with a box only that terminal can open.',
    body: z.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  }),
  pollDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/request',
    auth: 'none',
    limit: 2 * kib,
    about: 'A new device asks to join an account, and asks again until it is answered.',
    body: z.object({ publicKey: bytes(64), deviceName: deviceName.optional() }),
    reply: pairingReply()
  }),
  answerDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/response',
    auth: 'account',
    limit: 2 * kib,
    about: 'A device of the account answers the request of a new one.',
    body: z.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  }),
  listTokens: route({
    method: 'GET',
    path: '/v1/tokens',
    auth: 'account',
    limit: 0,
    ours: true,
    about: 'The sign-ins of this account.',
    reply: z.object({ tokens: z.array(tokenRecord) })
  }),
  revokeToken: route({
    method: 'DELETE',
    path: '/v1/tokens/:id',
    auth: 'account',
    limit: 0,
    ours: true,
    about: 'Ends a sign-in and closes its connections. The id `current` names the one that asks.',
    params: z.object({ id: tokenId }),
    reply: ok
  }),

  openSession: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'account',
    limit: 40 * kib * kib,
    about: 'Creates a session, or loads the one that has this tag.',
    body: z.object({
      tag: z.string().min(1).max(1024),
      metadata: sealed,
      agentState: sealed.nullish(),
      dataEncryptionKey: sealed.nullish()
    }),
    reply: z.object({ session: listedSession })
  }),
  listSessions: route({
    method: 'GET',
    path: '/v1/sessions',
    auth: 'account',
    limit: 0,
    about: 'The 150 sessions that changed last, newest first.',
    reply: z.object({ sessions: z.array(listedSession) })
  }),
  archiveSession: route({
    method: 'POST',
    path: '/v1/sessions/:id/archive',
    auth: 'account',
    limit: 256 * kib,
    about: 'Marks a session as no longer active.',
    params: sessionParams,
    body: z.unknown(),
    reply: ok
  }),
  removeSession: route({
    method: 'DELETE',
    path: '/v1/sessions/:id',
    auth: 'account',
    limit: 0,
    about: 'Removes a session with all its messages.',
    params: sessionParams,
    reply: ok
  }),
  readLatestMessages: route({
    method: 'GET',
    path: '/v1/sessions/:id/messages',
    auth: 'account',
    limit: 0,
    about: 'The newest 150 messages, newest first.',
    params: sessionParams,
    reply: z.object({ messages: z.array(messageRecord) })
  }),
  readMessages: route({
    method: 'GET',
    path: '/v3/sessions/:id/messages',
    auth: 'account',
    limit: 0,
    about: 'A page of messages: ascending after `after_seq`, or descending before `before_seq`.',
    params: sessionParams,
    query: z
      .object({
        after_seq: wholeNumber.optional(),
        before_seq: wholeNumber.pipe(z.number().min(1)).optional(),
        limit: wholeNumber.pipe(z.number().min(1).max(500)).default(100)
      })
      .refine(q => q.after_seq === undefined || q.before_seq === undefined, 'after_seq and before_seq exclude each other'),
    reply: z.object({ messages: z.array(messageRecord), hasMore: z.boolean() })
  }),
  appendMessages: route({
    method: 'POST',
    path: '/v3/sessions/:id/messages',
    auth: 'account',
    limit: 100 * kib * kib,
    about: 'Stores messages, each at most once per localId, and numbers the new ones in the order given.',
    params: sessionParams,
    body: z.object({
      messages: z
        .array(z.object({ content: sealed, localId }))
        .min(1)
        .max(1000)
    }),
    reply: z.object({ messages: z.array(messageReceipt) })
  }),

  openMachine: route({
    method: 'POST',
    path: '/v1/machines',
    auth: 'account',
    limit: 40 * kib * kib,
    about: 'Registers a machine, or loads the one that has this id.',
    body: z.object({ id: machineId, metadata: sealed, daemonState: sealed.nullish(), dataEncryptionKey: sealed.nullish() }),
    reply: z.object({ machine: machineRecord })
  }),
  listMachines: route({
    method: 'GET',
    path: '/v1/machines',
    auth: 'account',
    limit: 0,
    about: 'All machines, the one seen last first.',
    reply: z.array(listedMachine)
  }),
  readMachine: route({
    method: 'GET',
    path: '/v1/machines/:id',
    auth: 'account',
    limit: 0,
    about: 'One machine.',
    params: machineParams,
    reply: z.object({ machine: listedMachine })
  }),
  removeMachine: route({
    method: 'DELETE',
    path: '/v1/machines/:id',
    auth: 'account',
    limit: 0,
    about: 'Removes a machine; its sessions stay.',
    params: machineParams,
    reply: ok
  }),

  readProfile: route({
    method: 'GET',
    path: '/v1/account/profile',
    auth: 'account',
    limit: 0,
    about: 'The account, in the shape existing apps want.',
    reply: accountProfile
  }),
  readSettings: route({
    method: 'GET',
    path: '/v1/account/settings',
    auth: 'account',
    limit: 0,
    about: 'The sealed settings and their version.',
    reply: z.object({ settings: sealed.nullable(), settingsVersion: version })
  }),
  writeSettings: route({
    method: 'POST',
    path: '/v1/account/settings',
    auth: 'account',
    limit: 40 * kib * kib,
    about: 'Replaces the settings if the version is the expected one.',
    body: z.object({ settings: sealed.nullable(), expectedVersion: version }),
    reply: z.union([
      z.object({ success: z.literal(true), version }),
      z.object({
        success: z.literal(false),
        error: z.literal('version-mismatch'),
        currentVersion: version,
        currentSettings: sealed.nullable()
      })
    ])
  }),

  addPushToken: route({
    method: 'POST',
    path: '/v1/push-tokens',
    auth: 'account',
    limit: 8 * kib,
    about: 'Remembers where to send notifications.',
    body: z.object({ token: z.string().min(1).max(4096) }),
    reply: ok
  }),
  listPushTokens: route({
    method: 'GET',
    path: '/v1/push-tokens',
    auth: 'account',
    limit: 0,
    about: 'The push tokens of the account, newest first.',
    reply: z.object({ tokens: z.array(pushTokenRecord) })
  }),
  removePushToken: route({
    method: 'DELETE',
    path: '/v1/push-tokens/:token',
    auth: 'account',
    limit: 0,
    about: 'Forgets a push token; succeeds also when it is not there.',
    params: z.object({ token: z.string().min(1).max(4096) }),
    reply: ok
  }),

  listArtifacts: route({
    method: 'GET',
    path: '/v1/artifacts',
    auth: 'account',
    limit: 0,
    about: 'Artifacts; this server keeps none yet.',
    reply: z.array(z.never())
  }),
  listFriends: route({
    method: 'GET',
    path: '/v1/friends',
    auth: 'account',
    limit: 0,
    about: 'Always empty: accounts of this server do not see each other.',
    reply: z.object({ friends: z.array(z.never()) })
  }),
  readFeed: route({
    method: 'GET',
    path: '/v1/feed',
    auth: 'account',
    limit: 0,
    about: 'Always empty, as there is nobody to hear from.',
    reply: z.object({ items: z.array(z.never()), hasMore: z.literal(false) })
  })
} as const

export type RouteName = keyof typeof routes
export type ParamsOf<Name extends RouteName> = z.infer<(typeof routes)[Name]['params']>
export type QueryOf<Name extends RouteName> = z.infer<(typeof routes)[Name]['query']>
export type BodyOf<Name extends RouteName> = z.infer<(typeof routes)[Name]['body']>
export type ReplyOf<Name extends RouteName> = z.infer<(typeof routes)[Name]['reply']>

function route<
  Reply extends z.ZodType,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof nothing
>(row: {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  auth: 'none' | 'account'
  limit: number
  about: string
  ours?: boolean
  params?: Params
  query?: Query
  body?: Body
  reply: Reply
}): Route<Params, Query, Body, Reply> {
  // The defaults stand in exactly where the type parameter took its default.
  const absent = nothing as z.ZodType
  return {
    ours: false,
    ...row,
    params: row.params ?? (absent as Params),
    query: row.query ?? (absent as Query),
    body: row.body ?? (absent as Body)
  }
}

function pairingReply() {
  return z.union([
    z.object({ state: z.literal('requested') }),
    z.object({ state: z.literal('authorized'), token: z.string(), response: z.string() })
  ])
}
