import * as z from 'zod'
import { labelledAnswer, questionAnswer } from '../decisions/questions.ts'
import { ruleCalls, ruleDraft } from '../decisions/rules.ts'
import { goalAction } from '../goals.ts'
import { unanswered } from '../session.ts'
import { fileCalls, shellCalls } from './files.ts'
import { gitCalls } from './git.ts'
import { searchCalls } from './search.ts'

/** The methods of a session, called as `<session id>:<method>`. A failure of any handler is `{ error }`. */
export const sessionCalls = {
  permission: call(
    z.looseObject({
      id: z.string(),
      approved: z.boolean(),
      reason: z.string().optional(),
      mode: z.string().optional(),
      decision: z.enum(['approved', 'approved_for_session', 'denied', 'abort']).optional(),
      /** What shall not be asked for again in this session: tools by their names, commands as `Bash(npm test)` or `Bash(npm run:*)`. */
      allowTools: z.array(z.string()).nullish(),
      /** What shall run instead. Nothing else than what was asked is allowed, so an answer with it is refused: but to a question, where
       *  its `answers` are what was answered, by the texts of what was asked. */
      updatedInput: z.unknown().optional(),
      /** Ours, to a question: the answers by the ids of its form; none when a page was opened. */
      answers: z.record(z.string(), questionAnswer).optional(),
      /** Ours: which of the offered choices, the hash of what was shown, and who answers. */
      choice: z.string().optional(),
      shown: z.string().optional(),
      answeredBy: z.string().optional(),
      /** Ours: allows it from now on; the machine refuses one that does not fit what was shown. */
      rule: ruleDraft.optional()
    }),
    z.unknown()
  ),
  abort: call(z.looseObject({ reason: z.string().optional() }), z.unknown()),
  /** Between the agent's own terminal and the phone; without `to` to the other one. */
  switch: call(z.looseObject({ to: z.enum(['remote', 'local']).optional().catch(undefined) }), z.unknown()),
  /** Resolves once the agent has it so. */
  'goal-action': call(goalAction, z.looseObject({ ok: z.literal(true) })),
  killSession: call(z.looseObject({}), z.looseObject({ success: z.boolean(), message: z.string() })),
  /** Ours: after how many minutes a permission that nobody answers is denied; null for never. */
  setUnanswered: call(
    z.looseObject({ denyAfterMinutes: unanswered.shape.denyAfterMinutes.nullable() }),
    z.looseObject({ denyAfterMinutes: unanswered.shape.denyAfterMinutes.nullable() })
  ),
  /** Ours: sets the agent's own mode by its id. */
  setMode: call(z.looseObject({ mode: z.string() }), z.looseObject({ mode: z.string() })),
  /** Ours: one of the models, or of the levels of thought, that the metadata tells by their codes. */
  setModel: call(z.looseObject({ model: z.string() }), z.looseObject({ model: z.string() })),
  setEffort: call(z.looseObject({ effort: z.string() }), z.looseObject({ effort: z.string() })),
  /** Ours: one of the other settings that the metadata tells, by its id and the code of a choice. */
  setSetting: call(z.looseObject({ setting: z.string(), value: z.string() }), z.looseObject({ value: z.string() })),
  /** Ours: the session is on a screen of the app, or is no longer. Said again every half minute while it is; `viewer` names the screen. */
  watch: call(z.looseObject({ viewer: z.string().min(1).max(64), isWatching: z.boolean() }), z.unknown()),
  /** Answers a question as older versions of ours ask it, by the ids of its form; `cancelled` lets the agent decide. */
  communication: call(
    z.looseObject({
      id: z.string(),
      kind: z.string(),
      status: z.enum(['answered', 'cancelled']),
      answers: z.record(z.string(), z.union([questionAnswer, labelledAnswer])).optional(),
      /** Ours, as in `permission`. */
      shown: z.string().optional(),
      answeredBy: z.string().optional()
    }),
    z.unknown()
  ),
  ...fileCalls,
  ...shellCalls,
  ...gitCalls,
  ...searchCalls,
  /** Ours: as the machine's own, whose helper is not always there to be asked. */
  ...ruleCalls
} as const

/** What existing apps call, of sessions and of machines. They do not say what a call is for. */
export const methodsOfHappy: ReadonlySet<string> = new Set([
  'permission',
  'abort',
  'switch',
  'goal-action',
  'killSession',
  'communication',
  'readFile',
  'writeFile',
  'listDirectory',
  'getDirectoryTree',
  'bash',
  'ripgrep',
  'spawn-happy-session',
  'resume-happy-session',
  'stop-session',
  'stop-daemon'
])

/**
 * What a call chooses, where a later choice takes the place of an earlier one: of those of one caller the latest counts, however they
 * come. Undefined for a call that chooses nothing.
 */
export function choiceIn(method: string, params: unknown): string | undefined {
  if (!choosing.has(method)) return undefined
  const { data } = sessionCalls.setSetting.params.safeParse(params)
  return method === 'setSetting' && data ? `setSetting ${data.setting}` : method
}

const choosing: ReadonlySet<string> = new Set<SessionCall>([
  'switch',
  'goal-action',
  'setUnanswered',
  'setMode',
  'setModel',
  'setEffort',
  'setSetting'
])

export const callError = z.looseObject({ error: z.string() })

export type SessionCall = keyof typeof sessionCalls
export type ParamsOfCall<Name extends SessionCall> = z.infer<(typeof sessionCalls)[Name]['params']>
export type ResultOfCall<Name extends SessionCall> = z.infer<(typeof sessionCalls)[Name]['result']>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
