import * as v from '../../schema.ts'
import { grants } from './decisions/grants.ts'
import { communication, completedCommunication, question } from './decisions/questions.ts'
import { riskLevel } from './decisions/risk-names.ts'
import { rulePattern } from './decisions/rules.ts'
import { agentGoalStatus } from './goals.ts'
import { stepContent, stepKind } from './messages.ts'
import { worktree } from './worktree.ts'

const choice = v.looseObject({ code: v.string(), value: v.string(), description: v.nullish(v.string()) })

const setting = v.looseObject({
  id: v.string(),
  name: v.string(),
  description: v.nullish(v.string()),
  /** A switch: its codes are `true` and `false`. */
  isSwitch: v.boolean(),
  current: v.string(),
  choices: v.array(choice)
})

const agentEnd = v.looseObject({ code: v.optional(v.int()), signal: v.optional(v.string()) })

/** A time window with a usage limit for an account's agent. */
const usageWindow = v.looseObject({
  /** Its length. */
  minutes: v.number(),
  /** What it counts, in the agent's words; absent if it counts everything. */
  of: v.optional(v.string()),
  usedPercent: v.optional(v.number()),
  /** In ms since 1970. */
  resetsAt: v.optional(v.number()),
  /** The agent is paused until it ends. */
  isReached: v.boolean()
})

/** The metadata of a session. Unknown fields are kept, so that read-modify-write preserves those of newer clients. */
export const sessionMetadata = v.looseObject({
  path: v.string(),
  host: v.string(),
  /** From Happy's CLI: its app warns if the version is too old for it. */
  version: v.optional(v.string()),
  /** Ours. */
  afieldVersion: v.fallback(v.optional(v.string()), undefined),
  os: v.optional(v.string()),
  name: v.optional(v.string()),
  machineId: v.optional(v.string()),
  homeDir: v.optional(v.string()),
  happyHomeDir: v.optional(v.string()),
  flavor: v.nullish(v.string()),
  startedBy: v.optional(v.string()),
  hostPid: v.optional(v.number()),
  lifecycleState: v.optional(v.string()),
  lifecycleStateSince: v.optional(v.number()),
  summary: v.optional(v.looseObject({ text: v.string(), updatedAt: v.number() })),
  gitBranch: v.nullish(v.string()),
  operatingModes: v.fallback(v.optional(v.array(choice)), undefined),
  currentOperatingModeCode: v.nullish(v.string()),
  /** Existing apps reject metadata with a null code here, so it is omitted. */
  models: v.fallback(v.optional(v.array(choice)), undefined),
  currentModelCode: v.nullish(v.string()),
  /** The effort, in the agent's own levels. */
  thoughtLevels: v.fallback(v.optional(v.array(choice)), undefined),
  currentThoughtLevelCode: v.nullish(v.string()),
  /** Ours: the agent's other settings. */
  agentSettings: v.fallback(v.optional(v.array(setting)), undefined),
  slashCommands: v.fallback(v.optional(v.array(v.string())), undefined),
  /** Ours: the agent's descriptions of those commands, by name, each on one line. */
  slashDescriptions: v.fallback(v.optional(v.record(v.string(), v.string())), undefined),
  /** Written by the app: the mode a person picked. */
  permissionMode: v.nullish(v.string()),
  /** Ours: the agent's own id of the conversation, and the display name of the agent. */
  agentSessionId: v.optional(v.string()),
  agentTitle: v.optional(v.string()),
  /** The same id in the fields of existing wrappers. */
  claudeSessionId: v.fallback(v.nullish(v.string()), undefined),
  codexThreadId: v.fallback(v.nullish(v.string()), undefined),
  parentSessionId: v.nullish(v.string()),
  forkedFromMessageId: v.nullish(v.string()),
  isSideChat: v.nullish(v.boolean()),
  /** Ours, written by the app: when a person archived it; a later message unarchives it. */
  archivedAt: v.fallback(v.nullish(v.number()), undefined),
  /** Ours, written by the app: when a person unarchived it. */
  restoredAt: v.fallback(v.optional(v.number()), undefined),
  /** Ours, written by the app: when a person marked its key as compromised. */
  compromisedAt: v.fallback(v.nullish(v.number()), undefined),
  /** Ours: the copy of a repository made for it. */
  worktree: v.fallback(v.optional(worktree), undefined),
  /** Ours: how the process of the agent ended, if it ended on its own. */
  agentEnd: v.fallback(v.optional(agentEnd), undefined),
  /** Ours: usage of its account against the limit, as last reported by the agent. */
  usageWindows: v.fallback(v.optional(v.array(usageWindow)), undefined),
  /** Ours: how many steps of the running turn's plan are done; absent without one. */
  progress: v.fallback(v.optional(v.object({ done: v.number(), all: v.number() })), undefined),
  /** Ours: how many lines of files the last turn changed; absent if none. */
  changes: v.fallback(v.optional(v.object({ added: v.number(), removed: v.number() })), undefined),
  /** Ours: the methods that this session answers; existing wrappers do not report them. */
  methods: v.fallback(v.optional(v.array(v.string())), undefined),
  /** Ours: queued messages can be replaced and moved. */
  editsQueue: v.fallback(v.optional(v.boolean()), undefined)
})

/** A choice for a permission, as offered by the agent. */
export const permissionChoice = v.object({
  id: v.string(),
  label: v.string(),
  kind: v.picklist(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  /** For a permanent approval: its effect, if known; otherwise the label is all that the agent says about it. */
  grants: v.fallback(v.optional(grants), undefined)
})

export const permissionRequest = v.looseObject({
  tool: v.string(),
  arguments: v.unknown(),
  createdAt: v.number(),
  toolUseId: v.optional(v.string()),
  /** Ours: the data for a decision. `shown` is the hash that an answer must name. */
  title: v.optional(v.string()),
  kind: v.fallback(v.optional(stepKind), undefined),
  content: v.fallback(v.optional(v.array(stepContent)), undefined),
  locations: v.fallback(v.optional(v.array(v.string())), undefined),
  choices: v.fallback(v.optional(v.array(permissionChoice)), undefined),
  shown: v.optional(v.string()),
  /** Ours: the risk as judged by the machine with its reasons, and the narrowest rule that would allow it. `knowsEdits`: every file that
   *  the agent changed in this session was considered; only then may a command be allowed where the transcript is not loaded. */
  risk: v.fallback(
    v.optional(v.looseObject({ level: riskLevel, reasons: v.array(v.string()), knowsEdits: v.optional(v.boolean()) })),
    undefined
  ),
  suggestedRule: v.fallback(v.optional(rulePattern), undefined),
  /** Ours, for a question: its step, and its whole form or the page to open; `arguments` contain what existing apps can show of it. */
  call: v.optional(v.string()),
  form: v.fallback(v.optional(v.looseObject({ questions: v.array(question) })), undefined),
  url: v.optional(v.string())
})

export const completedRequest = v.looseObject({
  tool: v.string(),
  arguments: v.unknown(),
  createdAt: v.number(),
  completedAt: v.number(),
  status: v.picklist(['approved', 'denied', 'canceled']),
  reason: v.nullish(v.string()),
  mode: v.nullish(v.string()),
  decision: v.nullish(v.picklist(['approved', 'approved_for_session', 'denied', 'abort'])),
  /** Permissions granted for the rest of this session, as the answer named them. */
  allowTools: v.fallback(v.nullish(v.array(v.string())), undefined),
  toolUseId: v.optional(v.string()),
  title: v.optional(v.string()),
  /** Ours: the name of the device that answered. */
  answeredBy: v.optional(v.string()),
  /** Ours: the pattern of the rule that allowed it, or that was created with the answer. */
  rule: v.optional(v.string()),
  /** Ours: what else is allowed from then on. */
  grants: v.fallback(v.optional(grants), undefined),
  /** Ours, for a question: its step, and the answers, by the texts of the questions. */
  call: v.optional(v.string()),
  answers: v.fallback(v.optional(v.record(v.string(), v.string())), undefined)
})

const retryReason = v.picklist(['overloaded', 'limit', 'sign-in', 'unreachable', 'other'])

/** The agent is working, but its model is silent. */
const modelWait = v.looseObject({
  /** The last output, in ms since 1970. */
  since: v.number(),
  /** The request failed and is retried automatically: at that time, this many ms after this report. */
  retry: v.fallback(
    v.optional(
      v.looseObject({
        attempt: v.fallback(v.optional(v.number()), undefined),
        of: v.fallback(v.optional(v.number()), undefined),
        at: v.number(),
        inMs: v.number(),
        why: v.fallback(retryReason, 'other')
      })
    ),
    undefined
  )
})

/** The computer's disk accepts no writes, so the agent's output waits. */
const diskTrouble = v.looseObject({
  /** In ms since 1970. */
  since: v.number(),
  /** Full, which a person can fix, or another fault. */
  why: v.fallback(v.picklist(['full', 'failing']), 'failing')
})

/** The open requests of an agent, and whether the terminal or the phone has control. */
/** A person chose that unanswered permissions of a session are denied after this many minutes; `since` is when, in ms since 1970. */
export const unanswered = v.object({ denyAfterMinutes: v.union([v.literal(2), v.literal(5), v.literal(15)]), since: v.number() })

/** The answerer in that case, in place of a device. */
export const nobody = 'nobody'

export const agentState = v.looseObject({
  controlledByUser: v.nullish(v.boolean()),
  requests: v.nullish(v.record(v.string(), permissionRequest)),
  completedRequests: v.nullish(v.record(v.string(), completedRequest)),
  communications: v.fallback(v.nullish(v.record(v.string(), communication)), undefined),
  completedCommunications: v.fallback(v.nullish(v.record(v.string(), completedCommunication)), undefined),
  agentGoalStatus: v.fallback(v.optional(agentGoalStatus), undefined),
  /** Ours: set while its model is silent. */
  modelWait: v.fallback(v.optional(modelWait), undefined),
  /** Ours: set while nothing can be stored on its computer. */
  diskTrouble: v.fallback(v.optional(diskTrouble), undefined),
  /** Ours: unanswered permissions are denied. */
  unanswered: v.fallback(v.optional(unanswered), undefined)
})

export type RetryReason = v.InferOutput<typeof retryReason>
export type DiskTrouble = v.InferOutput<typeof diskTrouble>
export type Unanswered = v.InferOutput<typeof unanswered>
export type ModelWait = v.InferOutput<typeof modelWait>
export type Choice = v.InferOutput<typeof choice>
export type AgentSetting = v.InferOutput<typeof setting>
export type AgentEnd = v.InferOutput<typeof agentEnd>
export type SessionMetadata = v.InferOutput<typeof sessionMetadata>
export type PermissionChoice = v.InferOutput<typeof permissionChoice>
export type UsageWindow = v.InferOutput<typeof usageWindow>
export type PermissionRequest = v.InferOutput<typeof permissionRequest>
export type CompletedRequest = v.InferOutput<typeof completedRequest>
export type AgentState = v.InferOutput<typeof agentState>
