import * as z from 'zod'
import { localId, plainText, sealed, sealedKey, sealedMetadata, sealedState, sessionId } from '../ids.ts'
import { listedSession, messageReceipt, messageRecord, sessionRecord } from '../records.ts'
import { kib, milliseconds, ok, route, seqInQuery, wholeNumber } from './route.ts'

const sessionParams = z.object({ id: sessionId })

/** Sessions and their messages. */
export const sessionRoutes = {
  openSession: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'write',
    limit: 16 * kib * kib,
    body: z.object({
      tag: plainText(1024),
      metadata: sealedMetadata,
      agentState: sealedState.nullish(),
      dataEncryptionKey: sealedKey.nullish()
    }),
    reply: z.object({ session: listedSession })
  }),
  listSessions: route({
    method: 'GET',
    path: '/v1/sessions',
    auth: 'read',
    limit: 0,
    reply: z.object({ sessions: z.array(listedSession) })
  }),
  listActiveSessions: route({
    method: 'GET',
    path: '/v2/sessions/active',
    auth: 'read',
    limit: 0,
    query: z.object({ limit: wholeNumber.pipe(z.number().min(1).max(500)).default(150) }),
    reply: z.object({ sessions: z.array(sessionRecord) })
  }),
  pageSessions: route({
    method: 'GET',
    path: '/v2/sessions',
    auth: 'read',
    limit: 0,
    query: z.object({
      cursor: z.string().max(200).optional(),
      limit: wholeNumber.pipe(z.number().min(1).max(200)).default(50),
      changedSince: milliseconds.pipe(z.number().min(1)).optional()
    }),
    reply: z.object({ sessions: z.array(sessionRecord), nextCursor: z.string().nullable(), hasNext: z.boolean() })
  }),
  archiveSession: route({
    method: 'POST',
    path: '/v1/sessions/:id/archive',
    auth: 'write',
    limit: 256 * kib,
    params: sessionParams,
    body: z.unknown(),
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
    reply: z.object({ messages: z.array(messageRecord) })
  }),
  readMessages: route({
    method: 'GET',
    path: '/v3/sessions/:id/messages',
    auth: 'read',
    limit: 0,
    params: sessionParams,
    query: z
      .object({
        after_seq: seqInQuery.optional(),
        before_seq: seqInQuery.pipe(z.number().min(1)).optional(),
        limit: wholeNumber.pipe(z.number().min(1).max(500)).default(100)
      })
      .refine(q => q.after_seq === undefined || q.before_seq === undefined, 'after_seq and before_seq exclude each other'),
    reply: z.object({ messages: z.array(messageRecord), hasMore: z.boolean() })
  }),
  appendMessages: route({
    method: 'POST',
    path: '/v3/sessions/:id/messages',
    auth: 'write',
    limit: 100 * kib * kib,
    params: sessionParams,
    body: z.object({
      messages: z
        .array(z.object({ content: sealed, localId }))
        .min(1)
        .max(1000)
    }),
    reply: z.object({ messages: z.array(messageReceipt) })
  })
} as const
