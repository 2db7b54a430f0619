import * as z from 'zod'
import { fileCalls } from './files.ts'

const done = z.looseObject({ message: z.string() })
const started = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('success'), sessionId: z.string() }),
  z.looseObject({ type: z.literal('requestToApproveDirectoryCreation'), directory: z.string() })
])
/** The methods of a machine, called as `<machine id>:<method>`. A failure of any handler is `{ error }`. */
export const machineCalls = {
  'spawn-happy-session': call(
    z.looseObject({
      directory: z.string().min(1).max(4096),
      /** Existing apps ask with false first; one that says nothing has asked its person. */
      approvedNewDirectoryCreation: z.boolean().nullish(),
      agent: z.string().max(100).nullish(),
      permissionMode: z.string().max(100).nullish(),
      environmentVariables: z.record(z.string(), z.string()).nullish(),
      /** Ours: what the agent shall do first. */
      prompt: z.string().nullish()
    }),
    started
  ),
  'resume-happy-session': call(z.looseObject({ sessionId: z.string(), permissionMode: z.string().max(100).nullish() }), started),
  'stop-session': call(z.looseObject({ sessionId: z.string() }), done),
  'stop-daemon': call(z.looseObject({}), done),
  listDirectory: fileCalls.listDirectory,
  getDirectoryTree: fileCalls.getDirectoryTree,
  /** Ours: what a new session can be made of. */
  choices: call(
    z.looseObject({}),
    z.looseObject({
      agents: z.array(z.looseObject({ agent: z.string(), title: z.string() })),
      recentFolders: z.array(z.string()),
      home: z.string()
    })
  )
} as const

export type MachineCall = keyof typeof machineCalls
export type ParamsOfMachineCall<Name extends MachineCall> = z.infer<(typeof machineCalls)[Name]['params']>
export type ResultOfMachineCall<Name extends MachineCall> = z.infer<(typeof machineCalls)[Name]['result']>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
