import * as v from '../../schema.ts'

/** What a machine tells about itself; the first five are required by existing apps. */
export const machineMetadata = v.looseObject({
  host: v.string(),
  platform: v.string(),
  /** Here our own: Happy's app takes it for an old CLI, and so offers no start in the mode `auto`, in which nobody is asked. */
  happyCliVersion: v.string(),
  homeDir: v.string(),
  happyHomeDir: v.string(),
  displayName: v.optional(v.string()),
  /** By existing daemons: which agents they found, by name; and when. */
  cliAvailability: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
  /** Ours: the methods that its daemon answers; existing daemons tell none. */
  methods: v.fallback(v.optional(v.array(v.string())), undefined)
})

export const daemonState = v.looseObject({
  status: v.string(),
  pid: v.optional(v.number()),
  startedAt: v.optional(v.number()),
  /** When it was told to end. Stays after the next start. */
  shutdownRequestedAt: v.fallback(v.optional(v.number()), undefined)
})

export type MachineMetadata = v.InferOutput<typeof machineMetadata>
export type DaemonState = v.InferOutput<typeof daemonState>
