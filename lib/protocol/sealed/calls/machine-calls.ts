import * as z from 'zod'
import { ruleCalls } from '../decisions/rules.ts'
import { fileCalls } from './files.ts'
import { machineWorkCalls } from './machine-work.ts'

const done = z.looseObject({ message: z.string() })
const started = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('success'), sessionId: z.string() }),
  z.looseObject({ type: z.literal('requestToApproveDirectoryCreation'), directory: z.string() })
])
const folderState = z.looseObject({ path: z.string(), branch: z.string().optional(), dirty: z.int().optional() })

/** The methods of a machine, called as `<machine id>:<method>`. A failure of any handler is `{ error }`. */
export const machineCalls = {
  'spawn-happy-session': call(
    z.looseObject({
      directory: z.string().min(1).max(4096),
      /** Existing apps ask with false first; one that says nothing has asked its person. */
      approvedNewDirectoryCreation: z.boolean().nullish(),
      agent: z.string().max(100).nullish(),
      permissionMode: z.string().max(100).nullish(),
      modelMode: z.string().max(200).nullish(),
      effortLevel: z.string().max(100).nullish(),
      environmentVariables: z.record(z.string(), z.string()).nullish(),
      /** Signs the agent in, for this session alone. */
      token: z.string().max(65_536).nullish(),
      resumeClaudeSessionId: z.string().max(200).nullish(),
      resumeCodexThreadId: z.string().max(200).nullish(),
      /** Told in the metadata of the session. */
      parentSessionId: z.string().max(200).nullish(),
      forkedFromMessageId: z.string().max(200).nullish(),
      isSideChat: z.boolean().nullish(),
      /** Ours: what the agent shall do first. */
      prompt: z.string().nullish(),
      /** Ours: what to call this start in `start-log`. */
      start: z.string().max(100).nullish(),
      /** Ours: a conversation of the agent's own to go on with, by its id. */
      conversation: z.string().max(200).nullish(),
      /** Ours: works on a copy of the repository, on a branch of its own that begins at `base`, or where the folder is. */
      // `about` is what it is made for; its branch is named after that.
      worktree: z.looseObject({ base: z.string().max(200).nullish(), about: z.string().max(200).nullish() }).nullish()
    }),
    started
  ),
  'resume-happy-session': call(
    z.looseObject({
      sessionId: z.string().max(64),
      model: z.string().max(200).nullish(),
      permissionMode: z.string().max(100).nullish(),
      /** A `sessionReminder`, checked only by a machine that does not know the session: it keeps no other one from going on. */
      fallback: z.unknown().optional(),
      /** Why there is none. */
      fallbackReason: z.string().max(200).nullish()
    }),
    started
  ),
  'stop-session': call(z.looseObject({ sessionId: z.string() }), done),
  'stop-daemon': call(z.looseObject({}), done),
  listDirectory: fileCalls.listDirectory,
  getDirectoryTree: fileCalls.getDirectoryTree,
  /** Ours: what a new session can be made of. */
  choices: call(
    // `folder` is one that is not among the recent ones.
    z.looseObject({ folder: z.string().max(4096).nullish() }),
    z.looseObject({
      /** Those that are here. `isSignedIn` is left out when it cannot be known without running them. */
      agents: z.array(
        z.looseObject({
          agent: z.string(),
          title: z.string(),
          version: z.string().optional(),
          /** How its version stands to those that this helper was tested with. */
          tested: z.enum(['tested', 'newer', 'older']).optional().catch(undefined),
          isSignedIn: z.boolean().optional(),
          /** What to run on the machine to sign in. */
          signIn: z.string().optional()
        })
      ),
      recentFolders: z.array(z.string()),
      home: z.string(),
      /** Those that are not, and how to get them. */
      missingAgents: z.array(z.looseObject({ agent: z.string(), title: z.string(), install: z.string() })).optional(),
      /** The recent folders as they are; `branch` of a repository, and how many of its files have changes. */
      folders: z.array(folderState).optional(),
      /** The folder that was asked for, by its real path; left out where no session may begin, and by older helpers. */
      folder: folderState.optional().catch(undefined),
      /** Where sessions may begin. */
      allowedFolders: z.array(z.string()).optional()
    })
  ),
  ...machineWorkCalls,
  ...ruleCalls
} as const

export type MachineCall = keyof typeof machineCalls
export type ParamsOfMachineCall<Name extends MachineCall> = z.infer<(typeof machineCalls)[Name]['params']>
export type ResultOfMachineCall<Name extends MachineCall> = z.infer<(typeof machineCalls)[Name]['result']>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
