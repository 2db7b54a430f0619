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
      /** What shall not be asked for again in this session: tools by their names, commands as `Bash(npm test)` or `Bash(npm run:*)`. */
      allowTools: v.nullish(v.array(v.string())),
      /** What shall run instead. Nothing else than what was asked is allowed, so an answer with it is refused: but to a question, where
       *  its `answers` are what was answered, by the texts of what was asked. */
      updatedInput: v.optional(v.unknown()),
      /** Ours, to a question: the answers by the ids of its form; none when a page was opened. */
      answers: v.optional(v.record(v.string(), questionAnswer)),
      /** Ours: which of the offered choices, the hash of what was shown, and who answers. */
      choice: v.optional(v.string()),
      shown: v.optional(v.string()),
      answeredBy: v.optional(v.string()),
      /** Ours: allows it from now on; the machine refuses one that does not fit what was shown. */
      rule: v.optional(ruleDraft)
    }),
    v.unknown()
  ),
  abort: call(v.looseObject({ reason: v.optional(v.string()) }), v.unknown()),
  /** Between the agent's own terminal and the phone; without `to` to the other one. */
  switch: call(v.looseObject({ to: v.fallback(v.optional(v.picklist(['remote', 'local'])), undefined) }), v.unknown()),
  /** Resolves once the agent has it so. */
  'goal-action': call(goalAction, v.looseObject({ ok: v.literal(true) })),
  killSession: call(v.looseObject({}), v.looseObject({ success: v.boolean(), message: v.string() })),
  /** Ours: after how many minutes a permission that nobody answers is denied; null for never. */
  setUnanswered: call(
    v.looseObject({ denyAfterMinutes: v.nullable(unanswered.entries.denyAfterMinutes) }),
    v.looseObject({ denyAfterMinutes: v.nullable(unanswered.entries.denyAfterMinutes) })
  ),
  /** Ours: sets the agent's own mode by its id. */
  setMode: call(v.looseObject({ mode: v.string() }), v.looseObject({ mode: v.string() })),
  /** Ours: one of the models, or of the levels of thought, that the metadata tells by their codes. */
  setModel: call(v.looseObject({ model: v.string() }), v.looseObject({ model: v.string() })),
  setEffort: call(v.looseObject({ effort: v.string() }), v.looseObject({ effort: v.string() })),
  /** Ours: one of the other settings that the metadata tells, by its id and the code of a choice. */
  setSetting: call(v.looseObject({ setting: v.string(), value: v.string() }), v.looseObject({ value: v.string() })),
  /** Ours: the session is on a screen of the app, or is no longer. Said again every half minute while it is; `viewer` names the screen. */
  watch: call(v.looseObject({ viewer: v.pipe(v.string(), v.minLength(1), v.maxLength(64)), isWatching: v.boolean() }), v.unknown()),
  /** Answers a question as older versions of ours ask it, by the ids of its form; `cancelled` lets the agent decide. */
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
