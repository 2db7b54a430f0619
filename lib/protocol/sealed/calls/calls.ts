import * as v from '../../../schema.ts'
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
    v.looseObject({
      id: v.string(),
      approved: v.boolean(),
      reason: v.optional(v.string()),
      mode: v.optional(v.string()),
      decision: v.optional(v.picklist(['approved', 'approved_for_session', 'denied', 'abort'])),
      /** Permissions to grant for the rest of this session: tools by name, commands as `Bash(npm test)` or `Bash(npm run:*)`. */
      allowTools: v.nullish(v.array(v.string())),
      /** A replacement for the input. Only the request itself can be allowed, so an answer with it is rejected, except for a question, where
       *  its `answers` are the answers, by the texts of the questions. */
      updatedInput: v.optional(v.unknown()),
      /** Ours, for a question: the answers by the ids of its form; none if a page was opened. */
      answers: v.optional(v.record(v.string(), questionAnswer)),
      /** Ours: the chosen option, the hash of what was shown, and who answers. */
      choice: v.optional(v.string()),
      shown: v.optional(v.string()),
      answeredBy: v.optional(v.string()),
      /** Ours: a rule that allows it from now on; the machine rejects one that does not match what was shown. */
      rule: v.optional(ruleDraft)
    }),
    v.unknown()
  ),
  abort: call(v.looseObject({ reason: v.optional(v.string()) }), v.unknown()),
  /** Switches between the agent's own terminal and the phone; without `to`, to the other one. */
  switch: call(v.looseObject({ to: v.fallback(v.optional(v.picklist(['remote', 'local'])), undefined) }), v.unknown()),
  /** Resolves once the agent has confirmed the change. */
  'goal-action': call(goalAction, v.looseObject({ ok: v.literal(true) })),
  killSession: call(v.looseObject({}), v.looseObject({ success: v.boolean(), message: v.string() })),
  /** Ours: after how many minutes an unanswered permission is denied; null for never. */
  setUnanswered: call(
    v.looseObject({ denyAfterMinutes: v.nullable(unanswered.entries.denyAfterMinutes) }),
    v.looseObject({ denyAfterMinutes: v.nullable(unanswered.entries.denyAfterMinutes) })
  ),
  /** Ours: sets the agent's own mode by its id. */
  setMode: call(v.looseObject({ mode: v.string() }), v.looseObject({ mode: v.string() })),
  /** Ours: one of the models or efforts listed in the metadata, by its code. */
  setModel: call(v.looseObject({ model: v.string() }), v.looseObject({ model: v.string() })),
  setEffort: call(v.looseObject({ effort: v.string() }), v.looseObject({ effort: v.string() })),
  /** Ours: one of the other settings listed in the metadata, by its id and the code of a choice. */
  setSetting: call(v.looseObject({ setting: v.string(), value: v.string() }), v.looseObject({ value: v.string() })),
  /** Ours: the session is, or is no longer, on a screen of the app. Repeated every half minute while it is; `viewer` identifies the screen. */
  watch: call(v.looseObject({ viewer: v.pipe(v.string(), v.minLength(1), v.maxLength(64)), isWatching: v.boolean() }), v.unknown()),
  /** Answers a question of our older versions, by the ids of its form; `cancelled` lets the agent decide. */
  communication: call(
    v.looseObject({
      id: v.string(),
      kind: v.string(),
      status: v.picklist(['answered', 'cancelled']),
      answers: v.optional(v.record(v.string(), v.union([questionAnswer, labelledAnswer]))),
      /** Ours, as in `permission`. */
      shown: v.optional(v.string()),
      answeredBy: v.optional(v.string())
    }),
    v.unknown()
  ),
  ...fileCalls,
  ...shellCalls,
  ...gitCalls,
  ...searchCalls,
  /** Ours: the same as those of the machine, whose daemon may be offline. */
  ...ruleCalls
} as const

/** Methods of sessions and machines that existing apps call. Their calls do not say what they are for. */
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
 * What a call sets, if a later call replaces an earlier one: the latest call of one caller counts, in any order of
 * arrival. Undefined for a call that sets nothing.
 */
export function choiceIn(method: string, params: unknown): string | undefined {
  if (!choosing.has(method)) return undefined
  const { data } = v.safeParse(sessionCalls.setSetting.params, params)
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

export const callError = v.looseObject({ error: v.string() })

export type SessionCall = keyof typeof sessionCalls
export type ParamsOfCall<Name extends SessionCall> = v.InferOutput<(typeof sessionCalls)[Name]['params']>
export type ResultOfCall<Name extends SessionCall> = v.InferOutput<(typeof sessionCalls)[Name]['result']>

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
