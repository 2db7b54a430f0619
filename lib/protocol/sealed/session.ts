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
  /** It is on or off: its codes are `true` and `false`. */
  isSwitch: v.boolean(),
  current: v.string(),
  choices: v.array(choice)
})

const agentEnd = v.looseObject({ code: v.optional(v.int()), signal: v.optional(v.string()) })

/** A span of time in which an account may use its agent only so much. */
const usageWindow = v.looseObject({
  /** How long it is. */
  minutes: v.number(),
  /** What it counts, as its agent calls it; none when it counts everything. */
  of: v.optional(v.string()),
  usedPercent: v.optional(v.number()),
  /** In ms since 1970. */
  resetsAt: v.optional(v.number()),
  /** Nothing more is done before it ends. */
  isReached: v.boolean()
})

/** What a session tells about itself. Unknown fields are kept, so that read-modify-write keeps those of newer clients. */
export const sessionMetadata = v.looseObject({
  path: v.string(),
  host: v.string(),
  /** Of Happy's CLI: its app warns of one that is too old for it. */
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
  /** Existing apps read none of a metadata in which a code of now is null: it is left out. */
  models: v.fallback(v.optional(v.array(choice)), undefined),
  currentModelCode: v.nullish(v.string()),
  /** How long it thinks before it answers; the agent's own levels. */
  thoughtLevels: v.fallback(v.optional(v.array(choice)), undefined),
  currentThoughtLevelCode: v.nullish(v.string()),
  /** Ours: whatever else of the agent can be chosen. */
  agentSettings: v.fallback(v.optional(v.array(setting)), undefined),
  slashCommands: v.fallback(v.optional(v.array(v.string())), undefined),
  /** Ours: by the names of those commands, what the agent says of them, each in one line. */
  slashDescriptions: v.fallback(v.optional(v.record(v.string(), v.string())), undefined),
  /** Written by the app: the mode a person picked. */
  permissionMode: v.nullish(v.string()),
  /** Ours: the id by which the agent itself knows the conversation, and what to call the agent on screen. */
  agentSessionId: v.optional(v.string()),
  agentTitle: v.optional(v.string()),
  /** The same id in the words of existing wrappers. */
  claudeSessionId: v.fallback(v.nullish(v.string()), undefined),
  codexThreadId: v.fallback(v.nullish(v.string()), undefined),
  parentSessionId: v.nullish(v.string()),
  forkedFromMessageId: v.nullish(v.string()),
  isSideChat: v.nullish(v.boolean()),
  /** Ours, written by the app: when a person put it into the archive; what is said after that takes it out again. */
  archivedAt: v.fallback(v.nullish(v.number()), undefined),
  /** Ours, written by the app: when a person took it out again. */
  restoredAt: v.fallback(v.optional(v.number()), undefined),
  /** Ours, written by the app: when a person said that somebody else may have its key. */
  compromisedAt: v.fallback(v.nullish(v.number()), undefined),
  /** Ours: the copy of a repository that was made for it. */
  worktree: v.fallback(v.optional(worktree), undefined),
  /** Ours: how the process of the agent ended, when it ended by itself. */
  agentEnd: v.fallback(v.optional(agentEnd), undefined),
  /** Ours: how much of what its account may use is used, as its agent told it last. */
  usageWindows: v.fallback(v.optional(v.array(usageWindow)), undefined),
  /** Ours: how many steps of the plan of the turn that runs are done; absent without one. */
  progress: v.fallback(v.optional(v.object({ done: v.number(), all: v.number() })), undefined),
  /** Ours: how many lines of files its last turn changed; absent when none. */
  changes: v.fallback(v.optional(v.object({ added: v.number(), removed: v.number() })), undefined),
  /** Ours: the methods that this session answers; existing wrappers tell none. */
  methods: v.fallback(v.optional(v.array(v.string())), undefined),
  /** Ours: what waits for the agent can be replaced and moved. */
  editsQueue: v.fallback(v.optional(v.boolean()), undefined)
})

/** One way to answer a permission, as the agent offered it. */
export const permissionChoice = v.object({
  id: v.string(),
  label: v.string(),
  kind: v.picklist(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  /** Of a yes for longer, where it is known; else the label is all that the agent says of it. */
  grants: v.fallback(v.optional(grants), undefined)
})

export const permissionRequest = v.looseObject({
  tool: v.string(),
  arguments: v.unknown(),
  createdAt: v.number(),
  toolUseId: v.optional(v.string()),
  /** Ours: what a decision needs to be made on. `shown` is the hash an answer must name. */
  title: v.optional(v.string()),
  kind: v.fallback(v.optional(stepKind), undefined),
  content: v.fallback(v.optional(v.array(stepContent)), undefined),
  locations: v.fallback(v.optional(v.array(v.string())), undefined),
  choices: v.fallback(v.optional(v.array(permissionChoice)), undefined),
  shown: v.optional(v.string()),
  /** Ours: how risky the machine finds it and why, and the narrowest rule that would allow it from now on. `knowsEdits`: it was looked at
   *  with every file that the agent changed in this session; only then a command may be allowed where the transcript is not read. */
  risk: v.fallback(
    v.optional(v.looseObject({ level: riskLevel, reasons: v.array(v.string()), knowsEdits: v.optional(v.boolean()) })),
    undefined
  ),
  suggestedRule: v.fallback(v.optional(rulePattern), undefined),
  /** Ours, of a question: the step it belongs to, and its whole form or the page to open; `arguments` say what existing apps can show of it. */
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
  /** What is not asked for again in this session, as the answer named it. */
  allowTools: v.fallback(v.nullish(v.array(v.string())), undefined),
  toolUseId: v.optional(v.string()),
  title: v.optional(v.string()),
  /** Ours: the device that answered, as it names itself. */
  answeredBy: v.optional(v.string()),
  /** Ours: the pattern of the rule that allowed it, or that was made with the answer. */
  rule: v.optional(v.string()),
  /** Ours: what else was allowed with it from then on. */
  grants: v.fallback(v.optional(grants), undefined),
  /** Ours, of a question: the step it belongs to, and what was answered, by the texts of what was asked. */
  call: v.optional(v.string()),
  answers: v.fallback(v.optional(v.record(v.string(), v.string())), undefined)
})

const retryReason = v.picklist(['overloaded', 'limit', 'sign-in', 'unreachable', 'other'])

/** The agent works, and its model says nothing. */
const modelWait = v.looseObject({
  /** When it was heard last, in ms since 1970. */
  since: v.number(),
  /** It was refused, and is asked again by itself: at that time, so many ms after this was told. */
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

/** The disk of its computer takes nothing, so what the agent says waits. */
const diskTrouble = v.looseObject({
  /** In ms since 1970. */
  since: v.number(),
  /** Full, which a person can mend, or something else is wrong with it. */
  why: v.fallback(v.picklist(['full', 'failing']), 'failing')
})

/** What an agent waits for, and whether the terminal or the phone has the keyboard. */
/** A person chose for a session that what nobody answers is denied after so many minutes; `since` is when, in ms since 1970. */
export const unanswered = v.object({ denyAfterMinutes: v.union([v.literal(2), v.literal(5), v.literal(15)]), since: v.number() })

/** Who answers in that case, in the place of a device. */
export const nobody = 'nobody'

export const agentState = v.looseObject({
  controlledByUser: v.nullish(v.boolean()),
  requests: v.nullish(v.record(v.string(), permissionRequest)),
  completedRequests: v.nullish(v.record(v.string(), completedRequest)),
  communications: v.fallback(v.nullish(v.record(v.string(), communication)), undefined),
  completedCommunications: v.fallback(v.nullish(v.record(v.string(), completedCommunication)), undefined),
  agentGoalStatus: v.fallback(v.optional(agentGoalStatus), undefined),
  /** Ours: set while its model says nothing. */
  modelWait: v.fallback(v.optional(modelWait), undefined),
  /** Ours: set while nothing can be kept where it runs. */
  diskTrouble: v.fallback(v.optional(diskTrouble), undefined),
  /** Ours: permissions that nobody answers are denied. */
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
