import * as v from '../../../schema.ts'
import { worktree } from '../worktree.ts'

const empty = v.looseObject({})
const done = v.looseObject({ message: v.string() })
const time = v.number()

/** A process of a session with all that it started, or one that was left over: its session is no more. */
export const machineProcess = v.looseObject({
  /** Names the process for `end-process`: its id, and when it began. */
  id: v.string(),
  pid: v.int(),
  startedAt: time,
  /** Of it and all that it started: its share of memory where the system tells, else what is resident. */
  memoryBytes: v.number(),
  memoryIs: v.picklist(['share', 'resident']),
  /** How many processes that is. */
  processes: v.int(),
  /** What runs in shells below it, as it was called; absent where the system or the helper does not tell. */
  inShells: v.optional(v.array(v.string())),
  isLeftOver: v.boolean(),
  /** What runs, for a person. */
  title: v.string(),
  folder: v.optional(v.string()),
  session: v.optional(v.string())
})

/** A conversation that an agent keeps by itself. */
export const agentHistory = v.looseObject({
  agent: v.string(),
  /** The agent's own id of it; `spawn-happy-session` takes it as `conversation`. */
  id: v.string(),
  title: v.string(),
  folder: v.string(),
  /** When it was last written to. */
  at: time,
  /** The session that has it already. */
  session: v.optional(v.string()),
  /** Where it goes on right now: a session is running it, or the agent at its own terminal. */
  openIn: v.optional(v.picklist(['session', 'terminal']))
})

const claudeConversation = v.looseObject({
  directory: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  claudeSessionId: v.pipe(v.string(), v.minLength(1), v.maxLength(200))
})
const claudeFork = v.looseObject({ type: v.literal('success'), newClaudeSessionId: v.string() })
export const rewindPoint = v.looseObject({ uuid: v.string(), text: v.string(), timestamp: time })

const codexThread = v.looseObject({
  directory: v.optional(v.pipe(v.string(), v.maxLength(4096))),
  codexThreadId: v.pipe(v.string(), v.minLength(1), v.maxLength(200))
})
const codexFork = v.looseObject({ type: v.literal('success'), newCodexThreadId: v.string() })
const codexRewindPoint = v.looseObject({ itemId: v.string(), text: v.string(), timestamp: time })

/** Methods of a machine that are about what runs and lies on it. All but those named after Claude and Codex are ours. */
export const machineWorkCalls = {
  processes: call(empty, v.looseObject({ processes: v.array(machineProcess) })),
  'end-process': call(v.looseObject({ id: v.pipe(v.string(), v.maxLength(100)) }), done),

  'make-folder': call(v.looseObject({ path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)) }), v.looseObject({ path: v.string() })),
  /** Folders whose path begins so. */
  'complete-path': call(
    v.looseObject({ path: v.pipe(v.string(), v.maxLength(4096)) }),
    v.looseObject({ folders: v.array(v.string()), hasMore: v.boolean() })
  ),
  worktrees: call(
    empty,
    v.looseObject({
      worktrees: v.array(
        v.looseObject({ ...worktree.entries, dirty: v.int(), ahead: v.int(), session: v.optional(v.string()), isInUse: v.boolean() })
      )
    })
  ),
  /** Refused unless it is clean, or `force` was said by a person. Its branch stays when it has commits of its own. */
  'remove-worktree': call(
    v.looseObject({ path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)), force: v.optional(v.boolean()) }),
    v.looseObject({ message: v.string(), branch: v.picklist(['kept', 'removed']) })
  ),

  /** The latest first; `cursor` of an answer asks for those after it. */
  'agent-histories': call(
    v.looseObject({
      agent: v.optional(v.pipe(v.string(), v.maxLength(100))),
      words: v.optional(v.pipe(v.string(), v.maxLength(500))),
      cursor: v.optional(v.pipe(v.string(), v.maxLength(200))),
      limit: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(100)))
    }),
    v.looseObject({ histories: v.array(agentHistory), cursor: v.nullable(v.string()) })
  ),
  /** Conversations on this machine in which all the words stand. */
  'search-histories': call(
    v.looseObject({
      words: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
      limit: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(100)))
    }),
    v.looseObject({
      hits: v.array(v.looseObject({ ...agentHistory.entries, by: v.picklist(['person', 'agent']), sentence: v.string() })),
      /** False when time or room ran out before everything was searched. */
      isComplete: v.boolean()
    })
  ),
  'claude-fork-session': call(claudeConversation, claudeFork),
  'claude-list-rewind-points': call(claudeConversation, v.looseObject({ type: v.literal('success'), points: v.array(rewindPoint) })),
  /** Keeps the turn that begins with the message of this uuid, and nothing after it. */
  'claude-duplicate-session': call(
    v.looseObject({ ...claudeConversation.entries, cutAfterUuid: v.pipe(v.string(), v.minLength(1), v.maxLength(200)) }),
    claudeFork
  ),
  'codex-fork-thread': call(codexThread, codexFork),
  'codex-list-rewind-points': call(codexThread, v.looseObject({ type: v.literal('success'), points: v.array(codexRewindPoint) })),
  /** Keeps the turn in which this was said, and nothing after it. */
  'codex-duplicate-thread': call(
    v.looseObject({ ...codexThread.entries, cutAfterItemId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)) }),
    codexFork
  ),
  /** Where a session of this machine can be forked. */
  'rewind-points': call(v.looseObject({ sessionId: v.string() }), v.looseObject({ points: v.array(rewindPoint) })),
  /** Begins a session that knows what this one knows, up to the turn that begins at `at`, or all of it. */
  'fork-session': call(
    v.looseObject({ sessionId: v.string(), at: v.optional(v.pipe(v.string(), v.maxLength(200))), prompt: v.nullish(v.string()) }),
    v.looseObject({ type: v.literal('success'), sessionId: v.string() })
  ),

  /** What a start that is under way has said so far: of a session that is resumed by its id, of a new one by what `spawn-happy-session` called it. */
  'start-log': call(
    v.looseObject({ start: v.pipe(v.string(), v.minLength(1), v.maxLength(100)) }),
    v.looseObject({ lines: v.array(v.string()) })
  ),
  log: call(
    v.looseObject({ lines: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(1000))) }),
    v.looseObject({ lines: v.array(v.string()) })
  ),
  /** The daemon gives its place to a new process of the program as it is installed now; sessions go on. */
  restart: call(empty, done),
  /** `command`: what a person runs on the machine. `isReady`: a newer program lies there already, and `restart` takes it up. */
  update: call(
    empty,
    v.looseObject({
      version: v.string(),
      installed: v.picklist(['npm', 'binary', 'source']),
      isReady: v.boolean(),
      command: v.optional(v.string()),
      message: v.string()
    })
  ),
  /** Without `on` it only tells. `isAwake`: a session works, and this keeps the machine from sleeping. */
  'keep-awake': call(
    v.looseObject({ on: v.optional(v.boolean()) }),
    v.looseObject({ on: v.boolean(), isAwake: v.boolean(), canDo: v.boolean() })
  )
} as const

export type MachineProcess = v.InferOutput<typeof machineProcess>
export type AgentHistory = v.InferOutput<typeof agentHistory>
export type RewindPoint = v.InferOutput<typeof rewindPoint>
export type CodexRewindPoint = v.InferOutput<typeof codexRewindPoint>

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
