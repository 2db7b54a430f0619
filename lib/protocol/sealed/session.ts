import * as z from 'zod'
import { grants } from './decisions/grants.ts'
import { communication, completedCommunication, question } from './decisions/questions.ts'
import { riskLevel } from './decisions/risk-names.ts'
import { rulePattern } from './decisions/rules.ts'
import { agentGoalStatus } from './goals.ts'
import { stepContent, stepKind } from './messages.ts'
import { worktree } from './worktree.ts'

const choice = z.looseObject({ code: z.string(), value: z.string(), description: z.string().nullish() })

const setting = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  /** It is on or off: its codes are `true` and `false`. */
  isSwitch: z.boolean(),
  current: z.string(),
  choices: z.array(choice)
})

const agentEnd = z.looseObject({ code: z.int().optional(), signal: z.string().optional() })

/** A span of time in which an account may use its agent only so much. */
const usageWindow = z.looseObject({
  /** How long it is. */
  minutes: z.number(),
  /** What it counts, as its agent calls it; none when it counts everything. */
  of: z.string().optional(),
  usedPercent: z.number().optional(),
  /** In ms since 1970. */
  resetsAt: z.number().optional(),
  /** Nothing more is done before it ends. */
  isReached: z.boolean()
})

/** What a session tells about itself. Unknown fields are kept, so that read-modify-write keeps those of newer clients. */
export const sessionMetadata = z.looseObject({
  path: z.string(),
  host: z.string(),
  /** Of Happy's CLI: its app warns of one that is too old for it. */
  version: z.string().optional(),
  /** Ours. */
  afieldVersion: z.string().optional().catch(undefined),
  os: z.string().optional(),
  name: z.string().optional(),
  machineId: z.string().optional(),
  homeDir: z.string().optional(),
  happyHomeDir: z.string().optional(),
  flavor: z.string().nullish(),
  startedBy: z.string().optional(),
  hostPid: z.number().optional(),
  lifecycleState: z.string().optional(),
  lifecycleStateSince: z.number().optional(),
  summary: z.looseObject({ text: z.string(), updatedAt: z.number() }).optional(),
  gitBranch: z.string().nullish(),
  operatingModes: z.array(choice).optional().catch(undefined),
  currentOperatingModeCode: z.string().nullish(),
  /** Existing apps read none of a metadata in which a code of now is null: it is left out. */
  models: z.array(choice).optional().catch(undefined),
  currentModelCode: z.string().nullish(),
  /** How long it thinks before it answers; the agent's own levels. */
  thoughtLevels: z.array(choice).optional().catch(undefined),
  currentThoughtLevelCode: z.string().nullish(),
  /** Ours: whatever else of the agent can be chosen. */
  agentSettings: z.array(setting).optional().catch(undefined),
  slashCommands: z.array(z.string()).optional().catch(undefined),
  /** Ours: by the names of those commands, what the agent says of them, each in one line. */
  slashDescriptions: z.record(z.string(), z.string()).optional().catch(undefined),
  /** Written by the app: the mode a person picked. */
  permissionMode: z.string().nullish(),
  /** Ours: the id by which the agent itself knows the conversation, and what to call the agent on screen. */
  agentSessionId: z.string().optional(),
  agentTitle: z.string().optional(),
  /** The same id in the words of existing wrappers. */
  claudeSessionId: z.string().nullish().catch(undefined),
  codexThreadId: z.string().nullish().catch(undefined),
  parentSessionId: z.string().nullish(),
  forkedFromMessageId: z.string().nullish(),
  isSideChat: z.boolean().nullish(),
  /** Ours, written by the app: when a person put it into the archive; what is said after that takes it out again. */
  archivedAt: z.number().nullish().catch(undefined),
  /** Ours, written by the app: when a person took it out again. */
  restoredAt: z.number().optional().catch(undefined),
  /** Ours, written by the app: when a person said that somebody else may have its key. */
  compromisedAt: z.number().nullish().catch(undefined),
  /** Ours: the copy of a repository that was made for it. */
  worktree: worktree.optional().catch(undefined),
  /** Ours: how the process of the agent ended, when it ended by itself. */
  agentEnd: agentEnd.optional().catch(undefined),
  /** Ours: how much of what its account may use is used, as its agent told it last. */
  usageWindows: z.array(usageWindow).optional().catch(undefined),
  /** Ours: how many steps of the plan of the turn that runs are done; absent without one. */
  progress: z.object({ done: z.number(), all: z.number() }).optional().catch(undefined),
  /** Ours: how many lines of files its last turn changed; absent when none. */
  changes: z.object({ added: z.number(), removed: z.number() }).optional().catch(undefined),
  /** Ours: the methods that this session answers; existing wrappers tell none. */
  methods: z.array(z.string()).optional().catch(undefined),
  /** Ours: what waits for the agent can be replaced and moved. */
  editsQueue: z.boolean().optional().catch(undefined)
})

/** One way to answer a permission, as the agent offered it. */
export const permissionChoice = z.object({
  id: z.string(),
  label: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  /** Of a yes for longer, where it is known; else the label is all that the agent says of it. */
  grants: grants.optional().catch(undefined)
})

export const permissionRequest = z.looseObject({
  tool: z.string(),
  arguments: z.unknown(),
  createdAt: z.number(),
  toolUseId: z.string().optional(),
  /** Ours: what a decision needs to be made on. `shown` is the hash an answer must name. */
  title: z.string().optional(),
  kind: stepKind.optional().catch(undefined),
  content: z.array(stepContent).optional().catch(undefined),
  locations: z.array(z.string()).optional().catch(undefined),
  choices: z.array(permissionChoice).optional().catch(undefined),
  shown: z.string().optional(),
  /** Ours: how risky the machine finds it and why, and the narrowest rule that would allow it from now on. `knowsEdits`: it was looked at
   *  with every file that the agent changed in this session; only then a command may be allowed where the transcript is not read. */
  risk: z
    .looseObject({ level: riskLevel, reasons: z.array(z.string()), knowsEdits: z.boolean().optional() })
    .optional()
    .catch(undefined),
  suggestedRule: rulePattern.optional().catch(undefined),
  /** Ours, of a question: the step it belongs to, and its whole form or the page to open; `arguments` say what existing apps can show of it. */
  call: z.string().optional(),
  form: z
    .looseObject({ questions: z.array(question) })
    .optional()
    .catch(undefined),
  url: z.string().optional()
})

export const completedRequest = z.looseObject({
  tool: z.string(),
  arguments: z.unknown(),
  createdAt: z.number(),
  completedAt: z.number(),
  status: z.enum(['approved', 'denied', 'canceled']),
  reason: z.string().nullish(),
  mode: z.string().nullish(),
  decision: z.enum(['approved', 'approved_for_session', 'denied', 'abort']).nullish(),
  /** What is not asked for again in this session, as the answer named it. */
  allowTools: z.array(z.string()).nullish().catch(undefined),
  toolUseId: z.string().optional(),
  title: z.string().optional(),
  /** Ours: the device that answered, as it names itself. */
  answeredBy: z.string().optional(),
  /** Ours: the pattern of the rule that allowed it, or that was made with the answer. */
  rule: z.string().optional(),
  /** Ours: what else was allowed with it from then on. */
  grants: grants.optional().catch(undefined),
  /** Ours, of a question: the step it belongs to, and what was answered, by the texts of what was asked. */
  call: z.string().optional(),
  answers: z.record(z.string(), z.string()).optional().catch(undefined)
})

const retryReason = z.enum(['overloaded', 'limit', 'sign-in', 'unreachable', 'other'])

/** The agent works, and its model says nothing. */
const modelWait = z.looseObject({
  /** When it was heard last, in ms since 1970. */
  since: z.number(),
  /** It was refused, and is asked again by itself: at that time, so many ms after this was told. */
  retry: z
    .looseObject({
      attempt: z.number().optional().catch(undefined),
      of: z.number().optional().catch(undefined),
      at: z.number(),
      inMs: z.number(),
      why: retryReason.catch('other')
    })
    .optional()
    .catch(undefined)
})

/** The disk of its computer takes nothing, so what the agent says waits. */
const diskTrouble = z.looseObject({
  /** In ms since 1970. */
  since: z.number(),
  /** Full, which a person can mend, or something else is wrong with it. */
  why: z.enum(['full', 'failing']).catch('failing')
})

/** What an agent waits for, and whether the terminal or the phone has the keyboard. */
/** A person chose for a session that what nobody answers is denied after so many minutes; `since` is when, in ms since 1970. */
export const unanswered = z.object({ denyAfterMinutes: z.union([z.literal(2), z.literal(5), z.literal(15)]), since: z.number() })

/** Who answers in that case, in the place of a device. */
export const nobody = 'nobody'

export const agentState = z.looseObject({
  controlledByUser: z.boolean().nullish(),
  requests: z.record(z.string(), permissionRequest).nullish(),
  completedRequests: z.record(z.string(), completedRequest).nullish(),
  communications: z.record(z.string(), communication).nullish().catch(undefined),
  completedCommunications: z.record(z.string(), completedCommunication).nullish().catch(undefined),
  agentGoalStatus: agentGoalStatus.optional().catch(undefined),
  /** Ours: set while its model says nothing. */
  modelWait: modelWait.optional().catch(undefined),
  /** Ours: set while nothing can be kept where it runs. */
  diskTrouble: diskTrouble.optional().catch(undefined),
  /** Ours: permissions that nobody answers are denied. */
  unanswered: unanswered.optional().catch(undefined)
})

export type RetryReason = z.infer<typeof retryReason>
export type DiskTrouble = z.infer<typeof diskTrouble>
export type Unanswered = z.infer<typeof unanswered>
export type ModelWait = z.infer<typeof modelWait>
export type Choice = z.infer<typeof choice>
export type AgentSetting = z.infer<typeof setting>
export type AgentEnd = z.infer<typeof agentEnd>
export type SessionMetadata = z.infer<typeof sessionMetadata>
export type PermissionChoice = z.infer<typeof permissionChoice>
export type UsageWindow = z.infer<typeof usageWindow>
export type PermissionRequest = z.infer<typeof permissionRequest>
export type CompletedRequest = z.infer<typeof completedRequest>
export type AgentState = z.infer<typeof agentState>
