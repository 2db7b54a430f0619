import * as v from '../../../schema.ts'
import { ruleCalls } from '../decisions/rules.ts'
import { fileCalls } from './files.ts'
import { machineWorkCalls } from './machine-work.ts'

const done = v.looseObject({ message: v.string() })
const started = v.variant('type', [
  v.looseObject({ type: v.literal('success'), sessionId: v.string() }),
  v.looseObject({ type: v.literal('requestToApproveDirectoryCreation'), directory: v.string() })
])
const folderState = v.looseObject({ path: v.string(), branch: v.optional(v.string()), dirty: v.optional(v.int()) })

/** The methods of a machine, called as `<machine id>:<method>`. A failure of any handler is `{ error }`. */
export const machineCalls = {
  'spawn-happy-session': call(
    v.looseObject({
      directory: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
      /** Existing apps send false first; a call without it has already asked the person. */
      approvedNewDirectoryCreation: v.nullish(v.boolean()),
      agent: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      permissionMode: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      modelMode: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      effortLevel: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      environmentVariables: v.nullish(v.record(v.string(), v.string())),
      /** Signs the agent in, for this session only. */
      token: v.nullish(v.pipe(v.string(), v.maxLength(65_536))),
      resumeClaudeSessionId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      resumeCodexThreadId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      /** Copied to the metadata of the session. */
      parentSessionId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      forkedFromMessageId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      isSideChat: v.nullish(v.boolean()),
      /** Ours: the first prompt. */
      prompt: v.nullish(v.string()),
      /** Ours: the id of this start for `start-log`. */
      start: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      /** Ours: one of the agent's own conversations to continue, by its id. */
      conversation: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      /** Ours: works on a copy of the repository, on its own branch based on `base`, or on the folder's current commit. */
      // `about` describes the work; the branch is named after it.
      worktree: v.nullish(
        v.looseObject({ base: v.nullish(v.pipe(v.string(), v.maxLength(200))), about: v.nullish(v.pipe(v.string(), v.maxLength(200))) })
      )
    }),
    started
  ),
  'resume-happy-session': call(
    v.looseObject({
      sessionId: v.pipe(v.string(), v.maxLength(64)),
      model: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      permissionMode: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      /** A `sessionReminder`, checked only by a machine that does not know the session, so a bad one cannot block any other resume. */
      fallback: v.optional(v.unknown()),
      /** Why there is none. */
      fallbackReason: v.nullish(v.pipe(v.string(), v.maxLength(200)))
    }),
    started
  ),
  'stop-session': call(v.looseObject({ sessionId: v.string() }), done),
  'stop-daemon': call(v.looseObject({}), done),
  listDirectory: fileCalls.listDirectory,
  getDirectoryTree: fileCalls.getDirectoryTree,
  /** Ours: the options for a new session. */
  choices: call(
    // `folder`: one outside the recent ones.
    v.looseObject({ folder: v.nullish(v.pipe(v.string(), v.maxLength(4096))) }),
    v.looseObject({
      /** Installed agents. `isSignedIn` is omitted if it cannot be known without running them. */
      agents: v.array(
        v.looseObject({
          agent: v.string(),
          title: v.string(),
          version: v.optional(v.string()),
          /** How its version compares with those that this daemon was tested with. */
          tested: v.fallback(v.optional(v.picklist(['tested', 'newer', 'older'])), undefined),
          isSignedIn: v.optional(v.boolean()),
          /** The command that signs in on the machine. */
          signIn: v.optional(v.string())
        })
      ),
      recentFolders: v.array(v.string()),
      home: v.string(),
      /** Agents that are not installed, and how to install them. */
      missingAgents: v.optional(v.array(v.looseObject({ agent: v.string(), title: v.string(), install: v.string() }))),
      /** The current state of the recent folders; `branch` of a repository, and the number of its changed files. */
      folders: v.optional(v.array(folderState)),
      /** The requested folder, by its real path; omitted if no session may start there, and by older daemons. */
      folder: v.fallback(v.optional(folderState), undefined),
      /** Where sessions may start. */
      allowedFolders: v.optional(v.array(v.string()))
    })
  ),
  ...machineWorkCalls,
  ...ruleCalls
} as const

export type MachineCall = keyof typeof machineCalls
export type ParamsOfMachineCall<Name extends MachineCall> = v.InferOutput<(typeof machineCalls)[Name]['params']>
export type ResultOfMachineCall<Name extends MachineCall> = v.InferOutput<(typeof machineCalls)[Name]['result']>

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
