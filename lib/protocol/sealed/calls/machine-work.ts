import * as v from '../../../schema.ts'
import { worktree } from '../worktree.ts'

const empty = v.looseObject({})
const done = v.looseObject({ message: v.string() })
const time = v.number()

/** A process of a session with all its descendants, or a leftover one whose session is gone. */
export const machineProcess = v.looseObject({
  /** Identifies the process for `end-process`: its id and start time. */
  id: v.string(),
  pid: v.int(),
  startedAt: time,
  /** Including descendants: its share of memory if the system reports it, otherwise resident memory. */
  memoryBytes: v.number(),
  memoryIs: v.picklist(['share', 'resident']),
  /** The number of processes. */
  processes: v.int(),
  /** The commands running in shells below it; absent if the system or the daemon does not report them. */
  inShells: v.optional(v.array(v.string())),
  isLeftOver: v.boolean(),
  /** A description for a person. */
  title: v.string(),
  folder: v.optional(v.string()),
  session: v.optional(v.string())
})

/** A conversation stored by an agent. */
export const agentHistory = v.looseObject({
  agent: v.string(),
  /** The agent's own id; `spawn-happy-session` accepts it as `conversation`. */
  id: v.string(),
  title: v.string(),
  folder: v.string(),
  /** When it was last written to. */
  at: time,
  /** The session that already has it. */
  session: v.optional(v.string()),
  /** Where it is running now: in a session, or in the agent at its own terminal. */
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

/** Methods of a machine about its processes and files. All are ours except those named after Claude and Codex. */
export const machineWorkCalls = {
  processes: call(empty, v.looseObject({ processes: v.array(machineProcess) })),
  'end-process': call(v.looseObject({ id: v.pipe(v.string(), v.maxLength(100)) }), done),

  'make-folder': call(v.looseObject({ path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)) }), v.looseObject({ path: v.string() })),
  /** Folders whose path has this prefix. */
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
  /** Rejected unless it is clean, or a person chose `force`. Its branch stays if it has commits of its own. */
  'remove-worktree': call(
    v.looseObject({ path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)), force: v.optional(v.boolean()) }),
    v.looseObject({ message: v.string(), branch: v.picklist(['kept', 'removed']) })
  ),

  /** Newest first; `cursor` of an answer requests the next ones. */
  'agent-histories': call(
    v.looseObject({
      agent: v.optional(v.pipe(v.string(), v.maxLength(100))),
      words: v.optional(v.pipe(v.string(), v.maxLength(500))),
      cursor: v.optional(v.pipe(v.string(), v.maxLength(200))),
      limit: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(100)))
    }),
    v.looseObject({ histories: v.array(agentHistory), cursor: v.nullable(v.string()) })
  ),
  /** Conversations on this machine that contain all the words. */
  'search-histories': call(
    v.looseObject({
      words: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
      limit: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(100)))
    }),
    v.looseObject({
      hits: v.array(v.looseObject({ ...agentHistory.entries, by: v.picklist(['person', 'agent']), sentence: v.string() })),
      /** False if a time or size limit ended the search early. */
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
  /** The points where a session of this machine can be forked. */
  'rewind-points': call(v.looseObject({ sessionId: v.string() }), v.looseObject({ points: v.array(rewindPoint) })),
  /** Starts a fork of this session, up to the turn that begins at `at`, or in full. */
  'fork-session': call(
    v.looseObject({ sessionId: v.string(), at: v.optional(v.pipe(v.string(), v.maxLength(200))), prompt: v.nullish(v.string()) }),
    v.looseObject({ type: v.literal('success'), sessionId: v.string() })
  ),

  /** The log so far of a start in progress: of a resumed session by its id, of a new one by the id given to `spawn-happy-session`. */
  'start-log': call(
    v.looseObject({ start: v.pipe(v.string(), v.minLength(1), v.maxLength(100)) }),
    v.looseObject({ lines: v.array(v.string()) })
  ),
  log: call(
    v.looseObject({ lines: v.optional(v.pipe(v.int(), v.minValue(1), v.maxValue(1000))) }),
    v.looseObject({ lines: v.array(v.string()) })
  ),
  /** A new process of the currently installed program replaces the daemon; sessions continue. */
  restart: call(empty, done),
  /** `command`: for a person to run on the machine. `isReady`: a newer program is already installed, and `restart` starts it. */
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
  /** Without `on` it only returns the state. `isAwake`: a session is working, and this keeps the machine from sleeping. */
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
