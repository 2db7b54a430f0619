import * as v from '../../schema.ts'
import { seq, version } from '../wire/ids.ts'
import { sessionMetadata } from './session.ts'

/** The agent's own id; it becomes an argument of a command line, so it must not look like an option. */
const conversation = v.pipe(v.string(), v.maxLength(200), v.regex(/^\w[\w.:-]*$/, 'is not a conversation ID'))

const mostLetters = 1024 * 1024

/** An app's data about a session, for a machine that no longer has it. */
export const sessionReminder = v.object({
  metadata: v.pipe(
    v.looseObject({
      ...sessionMetadata.entries,
      path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
      machineId: v.optional(v.text(200)),
      flavor: v.nullish(v.text(100)),
      agentTitle: v.optional(v.text(200)),
      agentSessionId: v.optional(conversation),
      claudeSessionId: v.nullish(conversation),
      codexThreadId: v.nullish(conversation)
    }),
    v.check(metadata => JSON.stringify(metadata).length <= mostLetters, 'is too long')
  ),
  metadataVersion: version,
  agentStateVersion: version,
  /** Of the last message that the app knows; existing apps may send a higher one. */
  seq,
  /** 32 bytes in base64. */
  encryptionKey: v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 'is not 32 bytes in base64')),
  encryptionVariant: v.literal('dataKey')
})

export type SessionReminder = v.InferOutput<typeof sessionReminder>
