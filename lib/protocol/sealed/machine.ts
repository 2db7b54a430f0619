import * as z from 'zod'

/** What a machine tells about itself; the first five are required by existing apps. */
export const machineMetadata = z.looseObject({
  host: z.string(),
  platform: z.string(),
  /** Here our own: Happy's app takes it for an old CLI, and so offers no start in the mode `auto`, in which nobody is asked. */
  happyCliVersion: z.string(),
  homeDir: z.string(),
  happyHomeDir: z.string(),
  displayName: z.string().optional(),
  /** By existing daemons: which agents they found, by name; and when. */
  cliAvailability: z.record(z.string(), z.unknown()).optional().catch(undefined),
  /** Ours: the methods that its daemon answers; existing daemons tell none. */
  methods: z.array(z.string()).optional().catch(undefined)
})

export const daemonState = z.looseObject({
  status: z.string(),
  pid: z.number().optional(),
  startedAt: z.number().optional(),
  /** When it was told to end. Stays after the next start. */
  shutdownRequestedAt: z.number().optional().catch(undefined)
})

export type MachineMetadata = z.infer<typeof machineMetadata>
export type DaemonState = z.infer<typeof daemonState>
