import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'

/** What a new session can be asked for, in the codes that helpers of ours take for any agent. */
export type StartMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'

/**
 * The codes of the modes of an agent that Happy's wrapper drives itself, from the one that asks most to the one that never asks. It tells
 * of none: what it obeys is written in it. Undefined for an agent that tells its own.
 */
export function happyCodes({ methods, operatingModes, flavor }: SessionMetadata): readonly string[] | undefined {
  return methods === undefined && operatingModes === undefined ? codesOf(flavor ?? 'claude') : undefined
}

/** What a message says so that an agent of Happy's works in the mode that was picked; undefined when none was, or the agent tells its own. */
export function saidMode(metadata: SessionMetadata | undefined): string | undefined {
  if (!metadata?.permissionMode || happyCodes(metadata) === undefined) return undefined
  const { permissionMode: mode } = metadata
  // That wrapper lets nobody go from "never asks" to "default"; of this one it makes the same for Claude.
  return (metadata.flavor ?? 'claude') === 'claude' && mode === 'default' ? 'read-only' : mode
}

/** It was put into the mode that never asks, which is kept with the session and not by its agent. */
export function hasFullAuto(metadata: SessionMetadata): boolean {
  return happyCodes(metadata) !== undefined && ['bypassPermissions', 'yolo'].includes(metadata.permissionMode ?? '')
}

/** The agent's own name for a mode; undefined when it has none like it. */
export function happyModeOf(agent: string, mode: StartMode): string | undefined {
  const codes = codesOf(agent)
  if (codes === undefined) return mode === 'default' ? mode : undefined
  const code = agent === 'claude' ? mode : likeCodex[mode]
  return codes.includes(code) ? code : undefined
}

const likeCodex = { default: 'default', acceptEdits: 'auto', plan: 'read-only', bypassPermissions: 'yolo' } as const

/** Where two of them are the same to an agent, one stands for both. */
function codesOf(flavor: string): readonly string[] | undefined {
  switch (flavor) {
    case 'claude':
      return ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions']
    case 'codex':
      return ['default', 'auto', 'read-only', 'safe-yolo', 'yolo']
    case 'gemini':
      return ['default', 'safe-yolo', 'yolo']
    case 'agy':
      return ['default', 'yolo']
    default:
      return undefined
  }
}
