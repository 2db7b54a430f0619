import { type HappyModes, modesOfHappy, saidMode } from '../../../lib/client/happy/modes.ts'
import { isOfHappy, isResumable } from '../../../lib/client/happy/wrappers.ts'
import type {
  AgentEnd,
  AgentSetting,
  Choice,
  DiskTrouble,
  ModelWait,
  SessionMetadata,
  UsageWindow
} from '../../../lib/protocol/sealed/session.ts'
import { session as words } from '../../words/session.ts'
import { hasHelper } from '../machines.ts'
import { agentOf, hostOf, isInCopy, projectOf, titleOf } from '../sessions.ts'
import type { MachineView, SessionView } from '../store.ts'

/** What the session screen says about a session besides its messages. */
export interface SessionFacts {
  readonly id: string
  readonly seq: number
  readonly createdAt: number
  readonly title: string | undefined
  /** "Claude Code", and "Claude" where it is spoken of as somebody. */
  readonly agent: string
  readonly agentShort: string
  /** The machine as a person calls it. */
  readonly host: string
  /** The project's, also where it works in a copy. */
  readonly folder: string
  readonly isInCopy: boolean
  readonly path: string | undefined
  readonly branch: string | undefined
  readonly version: string | undefined
  readonly process: number | undefined
  /** `here`: its wrapper is connected. `away`: it should be, and is not. `ended`: nothing runs any more. */
  readonly presence: 'here' | 'away' | 'ended'
  /** How its agent ended, when it ended by itself and that is known. */
  readonly agentEnd: AgentEnd | undefined
  /** When its wrapper was last heard of, in ms since 1970. */
  readonly activeAt: number
  readonly isThinking: boolean
  /** Set while it works and its model says nothing. */
  readonly modelWait: ModelWait | undefined
  /** Set while the disk of its computer takes nothing. */
  readonly diskTrouble: DiskTrouble | undefined
  readonly modes: readonly Choice[]
  readonly mode: string | undefined
  /** The mode is kept in the metadata, and said with every message; the agent itself tells none. */
  readonly keepsMode: boolean
  /** What each message says of it. */
  readonly saysMode: string | undefined
  readonly models: readonly Choice[]
  readonly model: string | undefined
  /** How long it thinks before it answers. */
  readonly efforts: readonly Choice[]
  readonly effort: string | undefined
  /** Whatever else of the agent can be chosen. */
  readonly settings: readonly AgentSetting[]
  /** The minutes after which a permission that nobody answers is denied, as JSON; `null`: it waits. */
  readonly unanswered: string
  /** Since when that is so, in ms since 1970. */
  readonly unansweredSince: number
  /** How much of what its account may use is used, as the agent told it last. */
  readonly windows: readonly UsageWindow[]
  /** The agent's own commands, without their slash. */
  readonly commands: readonly string[]
  /** What it says of them, by their names as it tells them. */
  readonly commandAbouts: Readonly<Record<string, string>> | undefined
  /** What the session answers; undefined for existing wrappers, which do not tell. */
  readonly methods: readonly string[] | undefined
  readonly deliveredSeq: number
  readonly readSeq: number
  /** Its wrapper tells how far messages come, and lets them be taken back. */
  readonly hasReceipts: boolean
  /** The helper of its machine is there to begin it again. */
  readonly canResume: boolean
  /** What waits can be changed and moved where it is. */
  readonly editsQueue: boolean
  /** Begun again, it would pass over what was said meanwhile: it has to be there before anything is said. */
  readonly wakesDeaf: boolean
  /** It can be forked at one of its messages: by its helper, where the agent keeps its conversation in a form that can be cut. */
  readonly canForkAt: boolean
  /** The terminal has the keyboard. */
  readonly isInTerminal: boolean
  /** It is sealed with a key that was made with it; else with the account's. */
  readonly hasOwnKey: boolean
  /** When a person marked its key as compromised. */
  readonly compromisedAt: number | undefined
  /** False: the keys on this device do not open it. */
  readonly isReadable: boolean
  /** False: what its agent asks is not known here, because it does not open. */
  readonly isStateReadable: boolean
}

export function factsOf(session: SessionView, machine: MachineView | undefined): SessionFacts {
  const { metadata, agentState } = session
  const agent = agentOf(session) ?? 'The agent'
  const ofHappy = metadata && modesOfHappy(metadata)
  const canResume = !session.isActive && metadata !== undefined && machine !== undefined && hasHelper(machine) && isResumable(metadata)
  return {
    id: session.id,
    seq: session.seq,
    createdAt: session.createdAt,
    title: titleOf(session),
    agent,
    agentShort: agent === 'Claude Code' ? 'Claude' : agent,
    host: hostOf(session, machine) ?? 'the machine',
    folder: metadata ? projectOf(metadata) : '',
    isInCopy: metadata !== undefined && isInCopy(metadata),
    path: metadata?.path,
    branch: metadata?.gitBranch ?? undefined,
    version: metadata?.afieldVersion ?? metadata?.version,
    process: metadata?.hostPid,
    presence: session.isActive ? 'here' : metadata?.lifecycleState === 'running' ? 'away' : 'ended',
    agentEnd: metadata?.agentEnd,
    activeAt: session.activeAt,
    isThinking: session.isThinking,
    modelWait: session.isActive && session.isThinking ? (agentState?.modelWait ?? undefined) : undefined,
    diskTrouble: session.isActive ? (agentState?.diskTrouble ?? undefined) : undefined,
    modes: metadata?.operatingModes ?? (ofHappy ? choicesOf(ofHappy) : []),
    mode: ofHappy ? ofHappy.mode : (metadata?.currentOperatingModeCode ?? undefined),
    keepsMode: ofHappy !== undefined,
    saysMode: saidMode(metadata ?? undefined),
    models: metadata?.models ?? [],
    model: metadata?.currentModelCode ?? undefined,
    efforts: metadata?.thoughtLevels ?? [],
    effort: metadata?.currentThoughtLevelCode ?? undefined,
    settings: metadata?.agentSettings ?? [],
    unanswered: `${agentState?.unanswered?.denyAfterMinutes ?? null}`,
    unansweredSince: agentState?.unanswered?.since ?? 0,
    windows: metadata?.usageWindows ?? [],
    commandAbouts: metadata?.slashDescriptions,
    commands: (metadata?.slashCommands ?? []).map(name => name.replace(/^\//, '')),
    methods: metadata?.methods,
    deliveredSeq: session.deliveredSeq ?? 0,
    readSeq: session.readSeq ?? 0,
    hasReceipts: metadata !== undefined && !isOfHappy(metadata),
    canResume,
    editsQueue: metadata?.editsQueue === true,
    wakesDeaf: canResume && isOfHappy(metadata),
    canForkAt: machine !== undefined && hasHelper(machine) && metadata !== undefined && isCuttable(metadata),
    isInTerminal: agentState?.controlledByUser === true,
    hasOwnKey: session.dataEncryptionKey !== null,
    compromisedAt: metadata?.compromisedAt ?? undefined,
    isReadable: metadata !== undefined,
    isStateReadable: agentState !== undefined
  }
}

/** Whether a session that was asked to come back did, also one that ended again at once. `goneSince`: when its wrapper was heard last before. */
export function hasComeBack({ presence, activeAt }: Pick<SessionFacts, 'presence' | 'activeAt'>, goneSince: number): boolean {
  return presence === 'here' || activeAt > goneSince
}

function isCuttable(metadata: SessionMetadata): boolean {
  return !isOfHappy(metadata) && ['claude', 'codex'].includes(metadata.flavor ?? '')
}

/** In words: most of the codes have those that they have everywhere. */
function choicesOf({ flavor, codes }: HappyModes): Choice[] {
  return codes.map(code => {
    const name = code === 'auto' ? 'auto' : flavor === 'gemini' ? 'harmless' : 'inside'
    const [value, description] = code === 'auto' || code === 'safe-yolo' ? words.happyModes[name] : [code, '']
    return { code, value, description }
  })
}
