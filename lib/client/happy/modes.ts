import type { SessionMetadata } from '../../protocol/sealed/session.ts'
import { flavorOf, isOfHappy } from './wrappers.ts'

/** What a new session can be asked for, in the codes that helpers of ours take for any agent. */
export type StartMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'

/** The modes of an agent that Happy's wrapper drives itself. */
export interface HappyModes {
  readonly flavor: string
  /** From the one that asks most to the one that never asks. */
  readonly codes: readonly string[]
  /** The one that was picked last, else the one it began with. */
  readonly mode: string | undefined
}

/**
 * That wrapper tells of no modes: what it obeys is written in it. One that a person picks is kept in the metadata, where all apps see it, and
 * goes with every message. Undefined for an agent that tells its own.
 */
export function modesOfHappy(metadata: SessionMetadata): HappyModes | undefined {
  const flavor = flavorOf(metadata)
  const codes = isOfHappy(metadata) && metadata.operatingModes === undefined ? codesOf(flavor) : undefined
  if (codes === undefined) return undefined
  const first = metadata['dangerouslySkipPermissions'] === true ? codes.at(-1) : codes[0]
  return { flavor, codes, mode: metadata.permissionMode ?? first }
}

/** What a message says so that an agent of Happy's works in the mode that was picked; undefined when none was, or the agent tells its own. */
export function saidMode(metadata: SessionMetadata | undefined): string | undefined {
  if (!metadata?.permissionMode || modesOfHappy(metadata) === undefined) return undefined
  const { permissionMode: mode } = metadata
  // That wrapper lets nobody go from "never asks" to "default"; of this one it makes the same for Claude.
  return flavorOf(metadata) === 'claude' && mode === 'default' ? 'read-only' : mode
}

/** It was put into the mode that never asks, which is kept with the session and not by its agent. */
export function hasFullAuto(metadata: SessionMetadata): boolean {
  return modesOfHappy(metadata) !== undefined && ['bypassPermissions', 'yolo'].includes(metadata.permissionMode ?? '')
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
