import * as v from '../../../schema.ts'
import { riskLevel, riskName } from './risk-names.ts'

/**
 * The subject of a rule: a command line, files that are changed or read, a page by its host, or a tool by its name. It determines how
 * the pattern is read.
 */
export const ruleSubject = v.picklist(['command', 'change', 'read', 'page', 'tool'])

export const rulePattern = v.looseObject({
  on: ruleSubject,
  pattern: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  /** The rule applies to this folder and below. */
  folder: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  /** Only for the tool of this name. */
  tool: v.optional(v.text(200))
})

/** A permission that applies more than once. */
export const ruleDraft = v.looseObject({
  ...rulePattern.entries /** Only in this session; else on the whole machine. */,
  session: v.optional(v.string()),
  /** In ms since 1970; if absent, until it is removed. */
  endsAt: v.optional(v.number())
})

export const approvalRule = v.looseObject({
  ...ruleDraft.entries,
  id: v.string(),
  madeAt: v.number(),
  /** The name of the device. */
  madeBy: v.optional(v.string()),
  used: v.number(),
  usedAt: v.optional(v.number())
})

/** A request and its answer, as recorded on the machine. */
export const decisionEntry = v.looseObject({
  at: v.number(),
  session: v.optional(v.string()),
  /** Where the agent works. */
  folder: v.string(),
  on: ruleSubject,
  tool: v.string(),
  /** The command, the paths or the address. */
  what: v.string(),
  /** All of them, for files. */
  paths: v.fallback(v.array(v.string()), []),
  /** No pattern can allow it. */
  isOdd: v.fallback(v.boolean(), true),
  level: riskLevel,
  reasons: v.fallback(v.array(riskName), []),
  answer: v.picklist(['allowed', 'denied', 'ended']),
  /** The claimed name of the device that answered; and the device of the sign-in, as the server identified it. */
  by: v.optional(v.string()),
  device: v.optional(v.string()),
  rule: v.optional(v.string()),
  /** The choice, if it allows more than this once. */
  choice: v.optional(v.string())
})

/** How a pattern would have decided earlier requests; newest first. */
export const ruleTrial = v.looseObject({
  looked: v.number(),
  passed: v.number(),
  entries: v.array(v.looseObject({ at: v.number(), what: v.string(), answer: decisionEntry.entries.answer }))
})

const params = v.looseObject({})

/** Ours: methods of a machine, and of each session on it. */
export const ruleCalls = {
  rules: { params, result: v.looseObject({ rules: v.array(approvalRule), isPaused: v.boolean() }) },
  /** With an id it changes that rule. */
  'rules-set': {
    params: v.looseObject({
      rule: v.looseObject({ ...ruleDraft.entries, id: v.optional(v.string()) }),
      madeBy: v.optional(v.text(200))
    }),
    result: v.looseObject({ rule: approvalRule })
  },
  'rules-remove': { params: v.looseObject({ id: v.string() }), result: v.looseObject({}) },
  /** While rules are paused, none applies. */
  'rules-pause': { params: v.looseObject({ isPaused: v.boolean() }), result: v.looseObject({ isPaused: v.boolean() }) },
  'rules-try': { params: rulePattern, result: ruleTrial },
  /** The last decisions made on this device, newest first. */
  decisions: { params: v.looseObject({ device: v.string() }), result: v.looseObject({ entries: v.array(decisionEntry) }) }
} as const

export type RuleSubject = v.InferOutput<typeof ruleSubject>
export type RulePattern = v.InferOutput<typeof rulePattern>
export type RuleDraft = v.InferOutput<typeof ruleDraft>
export type ApprovalRule = v.InferOutput<typeof approvalRule>
export type DecisionEntry = v.InferOutput<typeof decisionEntry>
export type RuleTrial = v.InferOutput<typeof ruleTrial>
