import * as v from '../../../schema.ts'
import { localId, plainText, sealed, sealedKey, sealedMetadata, sealedState, sessionId } from '../ids.ts'
import { listedSession, messageReceipt, messageRecord, sessionRecord } from '../records.ts'
import { kib, milliseconds, ok, route, seqInQuery, wholeNumber } from './route.ts'

const sessionParams = v.object({ id: sessionId })

/** Sessions and their messages. */
export const sessionRoutes = {
  openSession: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'write',
    limit: 16 * kib * kib,
    body: v.object({
      tag: plainText(1024),
      metadata: sealedMetadata,
      agentState: v.nullish(sealedState),
      dataEncryptionKey: v.nullish(sealedKey)
    }),
    reply: v.object({ session: listedSession })
  }),
  listSessions: route({
    method: 'GET',
    path: '/v1/sessions',
    auth: 'read',
    limit: 0,
    reply: v.object({ sessions: v.array(listedSession) })
  }),
  listActiveSessions: route({
    method: 'GET',
    path: '/v2/sessions/active',
    auth: 'read',
    limit: 0,
    query: v.object({ limit: v.optional(v.pipe(wholeNumber, v.minValue(1), v.maxValue(500)), '150') }),
    reply: v.object({ sessions: v.array(sessionRecord) })
  }),
  pageSessions: route({
    method: 'GET',
    path: '/v2/sessions',
    auth: 'read',
    limit: 0,
    query: v.object({
      cursor: v.optional(v.text(200)),
      limit: v.optional(v.pipe(wholeNumber, v.minValue(1), v.maxValue(200)), '50'),
      changedSince: v.optional(v.pipe(milliseconds, v.minValue(1)))
    }),
    reply: v.object({ sessions: v.array(sessionRecord), nextCursor: v.nullable(v.string()), hasNext: v.boolean() })
  }),
  archiveSession: route({
    method: 'POST',
    path: '/v1/sessions/:id/archive',
    auth: 'write',
    limit: 256 * kib,
    params: sessionParams,
    body: v.unknown(),
    reply: ok
  }),
  removeSession: route({
    method: 'DELETE',
    path: '/v1/sessions/:id',
    auth: 'write',
    limit: 0,
    params: sessionParams,
    reply: ok
  }),
  readLatestMessages: route({
    method: 'GET',
    path: '/v1/sessions/:id/messages',
    auth: 'read',
    limit: 0,
    params: sessionParams,
    reply: v.object({ messages: v.array(messageRecord) })
  }),
  readMessages: route({
    method: 'GET',
    path: '/v3/sessions/:id/messages',
    auth: 'read',
    limit: 0,
    params: sessionParams,
    query: v.pipe(
      v.object({
        after_seq: v.optional(seqInQuery),
        before_seq: v.optional(v.pipe(seqInQuery, v.minValue(1))),
        limit: v.optional(v.pipe(wholeNumber, v.minValue(1), v.maxValue(500)), '100')
      }),
      v.check(q => q.after_seq === undefined || q.before_seq === undefined, 'cannot have both after_seq and before_seq')
    ),
    reply: v.object({ messages: v.array(messageRecord), hasMore: v.boolean() })
  }),
  appendMessages: route({
    method: 'POST',
    path: '/v3/sessions/:id/messages',
    auth: 'write',
    limit: 100 * kib * kib,
    params: sessionParams,
    body: v.object({
      messages: v.pipe(v.array(v.object({ content: sealed, localId })), v.minLength(1), v.maxLength(1000))
    }),
    reply: v.object({ messages: v.array(messageReceipt) })
  })
} as const
