import * as z from 'zod'
import { riskLevel, riskName } from './risk-names.ts'

/**
 * What a rule is about: a command line, files that are changed or read, a page by its host, or a tool by its name. The pattern is read
 * accordingly.
 */
export const ruleSubject = z.enum(['command', 'change', 'read', 'page', 'tool'])

export const rulePattern = z.looseObject({
  on: ruleSubject,
  pattern: z.string().min(1).max(1000),
  /** The rule counts here and below. */
  folder: z.string().min(1).max(4096),
  /** And only for the tool of this name. */
  tool: z.string().max(200).optional()
})

/** What a person allows for longer than once. */
export const ruleDraft = rulePattern.extend({
  /** Only in this session; else on the whole machine. */
  session: z.string().optional(),
  /** In ms since 1970; without it until it is removed. */
  endsAt: z.number().optional()
})

export const approvalRule = ruleDraft.extend({
  id: z.string(),
  madeAt: z.number(),
  /** The device, as it names itself. */
  madeBy: z.string().optional(),
  used: z.number(),
  usedAt: z.number().optional()
})

/** What was asked and how it was answered, as the machine keeps it. */
export const decisionEntry = z.looseObject({
  at: z.number(),
  session: z.string().optional(),
  /** Where the agent works. */
  folder: z.string(),
  on: ruleSubject,
  tool: z.string(),
  /** The command, the paths or the address. */
  what: z.string(),
  /** Of files, all of them. */
  paths: z.array(z.string()).catch([]),
  /** No pattern can allow it. */
  isOdd: z.boolean().catch(true),
  level: riskLevel,
  reasons: z.array(riskName).catch([]),
  answer: z.enum(['allowed', 'denied', 'ended']),
  /** Who answered, as it names itself; and the device whose sign-in it was, as the server knows it. */
  by: z.string().optional(),
  device: z.string().optional(),
  rule: z.string().optional(),
  /** What was chosen, when it allows more than this once. */
  choice: z.string().optional()
})

/** How a pattern would have decided what was asked before; the latest first. */
export const ruleTrial = z.looseObject({
  looked: z.number(),
  passed: z.number(),
  entries: z.array(z.looseObject({ at: z.number(), what: z.string(), answer: decisionEntry.shape.answer }))
})

const params = z.looseObject({})

/** Ours: methods of a machine, and of each session on it. */
export const ruleCalls = {
  rules: { params, result: z.looseObject({ rules: z.array(approvalRule), isPaused: z.boolean() }) },
  /** With an id it changes that rule. */
  'rules-set': {
    params: z.looseObject({ rule: ruleDraft.extend({ id: z.string().optional() }), madeBy: z.string().max(200).optional() }),
    result: z.looseObject({ rule: approvalRule })
  },
  'rules-remove': { params: z.looseObject({ id: z.string() }), result: z.looseObject({}) },
  /** While they are paused no rule answers anything. */
  'rules-pause': { params: z.looseObject({ isPaused: z.boolean() }), result: z.looseObject({ isPaused: z.boolean() }) },
  'rules-try': { params: rulePattern, result: ruleTrial },
  /** The last that were made on this device, the latest first. */
  decisions: { params: z.looseObject({ device: z.string() }), result: z.looseObject({ entries: z.array(decisionEntry) }) }
} as const

export type RuleSubject = z.infer<typeof ruleSubject>
export type RulePattern = z.infer<typeof rulePattern>
export type RuleDraft = z.infer<typeof ruleDraft>
export type ApprovalRule = z.infer<typeof approvalRule>
export type DecisionEntry = z.infer<typeof decisionEntry>
export type RuleTrial = z.infer<typeof ruleTrial>
