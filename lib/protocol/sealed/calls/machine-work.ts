import * as z from 'zod'
import { worktree } from '../worktree.ts'

const empty = z.looseObject({})
const done = z.looseObject({ message: z.string() })
const time = z.number()

/** A process of a session with all that it started, or one that was left over: its session is no more. */
export const machineProcess = z.looseObject({
  /** Names the process for `end-process`: its id, and when it began. */
  id: z.string(),
  pid: z.int(),
  startedAt: time,
  /** Of it and all that it started: its share of memory where the system tells, else what is resident. */
  memoryBytes: z.number(),
  memoryIs: z.enum(['share', 'resident']),
  /** How many processes that is. */
  processes: z.int(),
  /** What runs in shells below it, as it was called; absent where the system or the helper does not tell. */
  inShells: z.array(z.string()).optional(),
  isLeftOver: z.boolean(),
  /** What runs, for a person. */
  title: z.string(),
  folder: z.string().optional(),
  session: z.string().optional()
})

/** A conversation that an agent keeps by itself. */
export const agentHistory = z.looseObject({
  agent: z.string(),
  /** The agent's own id of it; `spawn-happy-session` takes it as `conversation`. */
  id: z.string(),
  title: z.string(),
  folder: z.string(),
  /** When it was last written to. */
  at: time,
  /** The session that has it already. */
  session: z.string().optional(),
  /** Where it goes on right now: a session is running it, or the agent at its own terminal. */
  openIn: z.enum(['session', 'terminal']).optional()
})

const claudeConversation = z.looseObject({ directory: z.string().min(1).max(4096), claudeSessionId: z.string().min(1).max(200) })
const claudeFork = z.looseObject({ type: z.literal('success'), newClaudeSessionId: z.string() })
export const rewindPoint = z.looseObject({ uuid: z.string(), text: z.string(), timestamp: time })

const codexThread = z.looseObject({ directory: z.string().max(4096).optional(), codexThreadId: z.string().min(1).max(200) })
const codexFork = z.looseObject({ type: z.literal('success'), newCodexThreadId: z.string() })
const codexRewindPoint = z.looseObject({ itemId: z.string(), text: z.string(), timestamp: time })

/** Methods of a machine that are about what runs and lies on it. All but those named after Claude and Codex are ours. */
export const machineWorkCalls = {
  processes: call(empty, z.looseObject({ processes: z.array(machineProcess) })),
  'end-process': call(z.looseObject({ id: z.string().max(100) }), done),

  'make-folder': call(z.looseObject({ path: z.string().min(1).max(4096) }), z.looseObject({ path: z.string() })),
  /** Folders whose path begins so. */
  'complete-path': call(
    z.looseObject({ path: z.string().max(4096) }),
    z.looseObject({ folders: z.array(z.string()), hasMore: z.boolean() })
  ),
  worktrees: call(
    empty,
    z.looseObject({
      worktrees: z.array(worktree.extend({ dirty: z.int(), ahead: z.int(), session: z.string().optional(), isInUse: z.boolean() }))
    })
  ),
  /** Refused unless it is clean, or `force` was said by a person. Its branch stays when it has commits of its own. */
  'remove-worktree': call(
    z.looseObject({ path: z.string().min(1).max(4096), force: z.boolean().optional() }),
    z.looseObject({ message: z.string(), branch: z.enum(['kept', 'removed']) })
  ),

  /** The latest first; `cursor` of an answer asks for those after it. */
  'agent-histories': call(
    z.looseObject({
      agent: z.string().max(100).optional(),
      words: z.string().max(500).optional(),
      cursor: z.string().max(200).optional(),
      limit: z.int().min(1).max(100).optional()
    }),
    z.looseObject({ histories: z.array(agentHistory), cursor: z.string().nullable() })
  ),
  /** Conversations on this machine in which all the words stand. */
  'search-histories': call(
    z.looseObject({ words: z.string().min(1).max(500), limit: z.int().min(1).max(100).optional() }),
    z.looseObject({
      hits: z.array(agentHistory.extend({ by: z.enum(['person', 'agent']), sentence: z.string() })),
      /** False when time or room ran out before everything was searched. */
      isComplete: z.boolean()
    })
  ),
  'claude-fork-session': call(claudeConversation, claudeFork),
  'claude-list-rewind-points': call(claudeConversation, z.looseObject({ type: z.literal('success'), points: z.array(rewindPoint) })),
  /** Keeps the turn that begins with the message of this uuid, and nothing after it. */
  'claude-duplicate-session': call(claudeConversation.extend({ cutAfterUuid: z.string().min(1).max(200) }), claudeFork),
  'codex-fork-thread': call(codexThread, codexFork),
  'codex-list-rewind-points': call(codexThread, z.looseObject({ type: z.literal('success'), points: z.array(codexRewindPoint) })),
  /** Keeps the turn in which this was said, and nothing after it. */
  'codex-duplicate-thread': call(codexThread.extend({ cutAfterItemId: z.string().min(1).max(200) }), codexFork),
  /** Where a session of this machine can be forked. */
  'rewind-points': call(z.looseObject({ sessionId: z.string() }), z.looseObject({ points: z.array(rewindPoint) })),
  /** Begins a session that knows what this one knows, up to the turn that begins at `at`, or all of it. */
  'fork-session': call(
    z.looseObject({ sessionId: z.string(), at: z.string().max(200).optional(), prompt: z.string().nullish() }),
    z.looseObject({ type: z.literal('success'), sessionId: z.string() })
  ),

  /** What a start that is under way has said so far: of a session that is resumed by its id, of a new one by what `spawn-happy-session` called it. */
  'start-log': call(z.looseObject({ start: z.string().min(1).max(100) }), z.looseObject({ lines: z.array(z.string()) })),
  log: call(z.looseObject({ lines: z.int().min(1).max(1000).optional() }), z.looseObject({ lines: z.array(z.string()) })),
  /** The daemon gives its place to a new process of the program as it is installed now; sessions go on. */
  restart: call(empty, done),
  /** `command`: what a person runs on the machine. `isReady`: a newer program lies there already, and `restart` takes it up. */
  update: call(
    empty,
    z.looseObject({
      version: z.string(),
      installed: z.enum(['npm', 'binary', 'source']),
      isReady: z.boolean(),
      command: z.string().optional(),
      message: z.string()
    })
  ),
  /** Without `on` it only tells. `isAwake`: a session works, and this keeps the machine from sleeping. */
  'keep-awake': call(
    z.looseObject({ on: z.boolean().optional() }),
    z.looseObject({ on: z.boolean(), isAwake: z.boolean(), canDo: z.boolean() })
  )
} as const

export type MachineProcess = z.infer<typeof machineProcess>
export type AgentHistory = z.infer<typeof agentHistory>
export type RewindPoint = z.infer<typeof rewindPoint>
export type CodexRewindPoint = z.infer<typeof codexRewindPoint>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
