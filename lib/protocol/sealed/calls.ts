import * as z from 'zod'
import { fileCalls, shellCalls } from './files.ts'

/** The methods of a session, called as `<session id>:<method>`. A failure of any handler is `{ error }`. */
export const sessionCalls = {
  permission: call(
    z.looseObject({
      id: z.string(),
      approved: z.boolean(),
      reason: z.string().optional(),
      mode: z.string().optional(),
      decision: z.enum(['approved', 'approved_for_session', 'denied', 'abort']).optional(),
      /** Ours: which of the offered choices, the hash of what was shown, and who answers. */
      choice: z.string().optional(),
      shown: z.string().optional(),
      answeredBy: z.string().optional()
    }),
    z.unknown()
  ),
  abort: call(z.looseObject({ reason: z.string().optional() }), z.unknown()),
  /** Between the agent's own terminal and the phone; without `to` to the other one. */
  switch: call(z.looseObject({ to: z.enum(['remote', 'local']).optional().catch(undefined) }), z.unknown()),
  killSession: call(z.looseObject({}), z.looseObject({ success: z.boolean(), message: z.string() })),
  /** Ours: sets the agent's own mode by its id. */
  setMode: call(z.looseObject({ mode: z.string() }), z.looseObject({ mode: z.string() })),
  ...fileCalls,
  ...shellCalls
} as const

export const callError = z.looseObject({ error: z.string() })

export type SessionCall = keyof typeof sessionCalls
export type ParamsOfCall<Name extends SessionCall> = z.infer<(typeof sessionCalls)[Name]['params']>
export type ResultOfCall<Name extends SessionCall> = z.infer<(typeof sessionCalls)[Name]['result']>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
