import * as v from '../../schema.ts'

/** The metadata of a machine; the first five fields are required by existing apps. */
export const machineMetadata = v.looseObject({
  host: v.string(),
  platform: v.string(),
  /** Here our own version: Happy's app considers it an old CLI, and so does not offer to start in the mode `auto`, which never asks. */
  happyCliVersion: v.string(),
  homeDir: v.string(),
  happyHomeDir: v.string(),
  displayName: v.optional(v.string()),
  /** From existing daemons: the agents found, by name; and when. */
  cliAvailability: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
  /** Ours: the methods that its daemon answers; existing daemons do not report them. */
  methods: v.fallback(v.optional(v.array(v.string())), undefined)
})

export const daemonState = v.looseObject({
  status: v.string(),
  pid: v.optional(v.number()),
  startedAt: v.optional(v.number()),
  /** When it was told to stop. Kept after the next start. */
  shutdownRequestedAt: v.fallback(v.optional(v.number()), undefined)
})

export type MachineMetadata = v.InferOutput<typeof machineMetadata>
export type DaemonState = v.InferOutput<typeof daemonState>
