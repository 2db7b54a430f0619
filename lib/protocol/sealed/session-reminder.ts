import * as z from 'zod'
import { seq, version } from '../wire/ids.ts'
import { sessionMetadata } from './session.ts'

/** As an agent itself names it; it becomes a word of a command line, so it never looks like an option. */
const conversation = z
  .string()
  .max(200)
  .regex(/^\w[\w.:-]*$/, 'no id of a conversation')

const mostLetters = 1024 * 1024

/** What apps know of a session, for a machine that forgot it. */
export const sessionReminder = z.object({
  metadata: sessionMetadata
    .extend({
      path: z.string().min(1).max(4096),
      machineId: z.string().max(200).optional(),
      flavor: z.string().max(100).nullish(),
      agentTitle: z.string().max(200).optional(),
      agentSessionId: conversation.optional(),
      claudeSessionId: conversation.nullish(),
      codexThreadId: conversation.nullish()
    })
    .refine(metadata => JSON.stringify(metadata).length <= mostLetters, 'too long'),
  metadataVersion: version,
  agentStateVersion: version,
  /** Of the last message that the app knows of; existing apps may tell a higher one. */
  seq,
  /** 32 bytes in base64. */
  encryptionKey: z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 'not 32 bytes'),
  encryptionVariant: z.literal('dataKey')
})

export type SessionReminder = z.infer<typeof sessionReminder>
