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
import { hasDaemon } from '../machines.ts'
import { agentOf, hostOf, isInCopy, isUnlinked, projectOf, titleOf } from '../sessions.ts'
import type { Home, MachineView, SessionView } from '../store.ts'

/** The facts about a session that its screen shows, besides messages. */
export interface SessionFacts {
  readonly id: string
  readonly seq: number
  readonly createdAt: number
  readonly title: string | undefined
  /** "Claude Code", and "Claude" as a name in sentences. */
  readonly agent: string
  readonly agentShort: string
  /** The display name of the machine. */
  readonly host: string
  /** The folder of the project, also if it works in a copy. */
  readonly folder: string
  readonly isInCopy: boolean
  readonly path: string | undefined
  readonly branch: string | undefined
  readonly version: string | undefined
  readonly process: number | undefined
  /** `here`: its wrapper is connected. `away`: it should be, and is not. `ended`: nothing is running any more, or its computer was unlinked. */
  readonly presence: 'here' | 'away' | 'ended'
  /** Its computer is no longer linked to the account. */
  readonly isUnlinked: boolean
  /** How its agent ended, if it ended on its own and that is known. */
  readonly agentEnd: AgentEnd | undefined
  /** When its wrapper was last seen, in ms since 1970. */
  readonly activeAt: number
  readonly isThinking: boolean
  /** Set while it works and its model is silent. */
  readonly modelWait: ModelWait | undefined
  /** Set while the disk of its computer is full. */
  readonly diskTrouble: DiskTrouble | undefined
  readonly modes: readonly Choice[]
  readonly mode: string | undefined
  /** The mode is stored in the metadata, and sent with every message; the agent itself reports none. */
  readonly keepsMode: boolean
  /** The mode fields of each message. */
  readonly saysMode: string | undefined
  readonly models: readonly Choice[]
  readonly model: string | undefined
  /** The effort. */
  readonly efforts: readonly Choice[]
  readonly effort: string | undefined
  /** Other settings of the agent. */
  readonly settings: readonly AgentSetting[]
  /** The minutes after which an unanswered permission is denied, as JSON; `null`: never. */
  readonly unanswered: string
  /** When that was set, in ms since 1970. */
  readonly unansweredSince: number
  /** Usage of its account against the limit, as last reported by the agent. */
  readonly windows: readonly UsageWindow[]
  /** The agent's own commands, without the slash. */
  readonly commands: readonly string[]
  /** The agent's descriptions of them, by the names it reports. */
  readonly commandAbouts: Readonly<Record<string, string>> | undefined
  /** The methods that the session answers; undefined for existing wrappers, which do not report them. */
  readonly methods: readonly string[] | undefined
  readonly deliveredSeq: number
  readonly readSeq: number
  /** Its wrapper sends receipts, and supports withdrawing messages. */
  readonly hasReceipts: boolean
  /** The daemon of its machine is online to resume it. */
  readonly canResume: boolean
  /** Queued messages can be edited and moved in place. */
  readonly editsQueue: boolean
  /** When resumed, it would skip messages sent meanwhile: it must be online before anything is sent. */
  readonly wakesDeaf: boolean
  /** It can be forked at one of its messages: by its daemon, if the agent stores its conversation in a form that can be cut. */
  readonly canForkAt: boolean
  /** The terminal has control. */
  readonly isInTerminal: boolean
  /** It is sealed with its own key; otherwise with the account's. */
  readonly hasOwnKey: boolean
  /** When a person marked its key as compromised. */
  readonly compromisedAt: number | undefined
  /** False: the keys on this device do not decrypt it. */
  readonly isReadable: boolean
  /** False: the agent's requests are unknown here, because they cannot be decrypted. */
  readonly isStateReadable: boolean
}

export function factsIn(session: SessionView, home: Pick<Home, 'machines' | 'asOf'>): SessionFacts {
  return factsOf(session, home.machines.get(session.metadata?.machineId ?? ''), isUnlinked(session, home))
}

export function factsOf(session: SessionView, machine: MachineView | undefined, isUnlinked: boolean): SessionFacts {
  const { metadata, agentState } = session
  const agent = agentOf(session) ?? 'The agent'
  const ofHappy = metadata && modesOfHappy(metadata)
  const canResume = !session.isActive && metadata !== undefined && machine !== undefined && hasDaemon(machine) && isResumable(metadata)
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
    presence: session.isActive ? 'here' : metadata?.lifecycleState === 'running' && !isUnlinked ? 'away' : 'ended',
    isUnlinked: isUnlinked && !session.isActive,
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
    canForkAt: machine !== undefined && hasDaemon(machine) && metadata !== undefined && isCuttable(metadata),
    isInTerminal: agentState?.controlledByUser === true,
    hasOwnKey: session.dataEncryptionKey !== null,
    compromisedAt: metadata?.compromisedAt ?? undefined,
    isReadable: metadata !== undefined,
    isStateReadable: agentState !== undefined
  }
}

/** Whether a session that was asked to resume did, even if it ended again at once. `goneSince`: when its wrapper was last seen before. */
export function hasComeBack({ presence, activeAt }: Pick<SessionFacts, 'presence' | 'activeAt'>, goneSince: number): boolean {
  return presence === 'here' || activeAt > goneSince
}

function isCuttable(metadata: SessionMetadata): boolean {
  return !isOfHappy(metadata) && ['claude', 'codex'].includes(metadata.flavor ?? '')
}

/** In words: most codes have the same words everywhere. */
function choicesOf({ flavor, codes }: HappyModes): Choice[] {
  return codes.map(code => {
    const name = code === 'auto' ? 'auto' : flavor === 'gemini' ? 'harmless' : 'inside'
    const [value, description] = code === 'auto' || code === 'safe-yolo' ? words.happyModes[name] : [code, '']
    return { code, value, description }
  })
}
