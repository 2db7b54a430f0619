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
      /** Existing apps ask with false first; one that says nothing has asked its person. */
      approvedNewDirectoryCreation: v.nullish(v.boolean()),
      agent: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      permissionMode: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      modelMode: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      effortLevel: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      environmentVariables: v.nullish(v.record(v.string(), v.string())),
      /** Signs the agent in, for this session alone. */
      token: v.nullish(v.pipe(v.string(), v.maxLength(65_536))),
      resumeClaudeSessionId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      resumeCodexThreadId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      /** Told in the metadata of the session. */
      parentSessionId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      forkedFromMessageId: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      isSideChat: v.nullish(v.boolean()),
      /** Ours: what the agent shall do first. */
      prompt: v.nullish(v.string()),
      /** Ours: what to call this start in `start-log`. */
      start: v.nullish(v.pipe(v.string(), v.maxLength(100))),
      /** Ours: a conversation of the agent's own to go on with, by its id. */
      conversation: v.nullish(v.pipe(v.string(), v.maxLength(200))),
      /** Ours: works on a copy of the repository, on a branch of its own that begins at `base`, or where the folder is. */
      // `about` is what it is made for; its branch is named after that.
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
      /** A `sessionReminder`, checked only by a machine that does not know the session: it keeps no other one from going on. */
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
  /** Ours: what a new session can be made of. */
  choices: call(
    // `folder` is one that is not among the recent ones.
    v.looseObject({ folder: v.nullish(v.pipe(v.string(), v.maxLength(4096))) }),
    v.looseObject({
      /** Those that are here. `isSignedIn` is left out when it cannot be known without running them. */
      agents: v.array(
        v.looseObject({
          agent: v.string(),
          title: v.string(),
          version: v.optional(v.string()),
          /** How its version stands to those that this helper was tested with. */
          tested: v.fallback(v.optional(v.picklist(['tested', 'newer', 'older'])), undefined),
          isSignedIn: v.optional(v.boolean()),
          /** What to run on the machine to sign in. */
          signIn: v.optional(v.string())
        })
      ),
      recentFolders: v.array(v.string()),
      home: v.string(),
      /** Those that are not, and how to get them. */
      missingAgents: v.optional(v.array(v.looseObject({ agent: v.string(), title: v.string(), install: v.string() }))),
      /** The recent folders as they are; `branch` of a repository, and how many of its files have changes. */
      folders: v.optional(v.array(folderState)),
      /** The folder that was asked for, by its real path; left out where no session may begin, and by older helpers. */
      folder: v.fallback(v.optional(folderState), undefined),
      /** Where sessions may begin. */
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
