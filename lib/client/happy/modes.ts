import type { SessionMetadata } from '../../protocol/sealed/session.ts'
import { flavorOf, isOfHappy } from './wrappers.ts'

/** What can be requested for a new session, in the codes that our daemons accept for any agent. */
type StartMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'

/** The modes of an agent that is driven by Happy's wrapper. */
export interface HappyModes {
  readonly flavor: string
  /** Ordered from the one that asks most to the one that never asks. */
  readonly codes: readonly string[]
  /** The one picked last, else the initial one. */
  readonly mode: string | undefined
}

/**
 * That wrapper does not report modes: the ones it obeys are hard-coded in it. A picked mode is stored
 * in the metadata, where all apps see it, and sent with every message. Undefined for an agent that
 * reports its own.
 */
export function modesOfHappy(metadata: SessionMetadata): HappyModes | undefined {
  const flavor = flavorOf(metadata)
  const codes = isOfHappy(metadata) && metadata.operatingModes === undefined ? codesOf(flavor) : undefined
  if (codes === undefined) return undefined
  const first = metadata['dangerouslySkipPermissions'] === true ? codes.at(-1) : codes[0]
  return { flavor, codes, mode: metadata.permissionMode ?? first }
}

/**
 * What a message contains so that an agent of Happy's works in the picked mode; undefined if none was
 * picked, or the agent reports its own.
 */
export function saidMode(metadata: SessionMetadata | undefined): string | undefined {
  if (!metadata?.permissionMode || modesOfHappy(metadata) === undefined) return undefined
  const { permissionMode: mode } = metadata
  // That wrapper does not switch from "never asks" to "default"; for Claude this mode has the same effect.
  return flavorOf(metadata) === 'claude' && mode === 'default' ? 'read-only' : mode
}

/** It was switched to the mode that never asks, which is stored with the session and not by its agent. */
export function hasFullAuto(metadata: SessionMetadata): boolean {
  return modesOfHappy(metadata) !== undefined && ['bypassPermissions', 'yolo'].includes(metadata.permissionMode ?? '')
}

/** The agent's own name for a mode; undefined if it has no equivalent. */
export function happyModeOf(agent: string, mode: StartMode): string | undefined {
  const codes = codesOf(agent)
  if (codes === undefined) return mode === 'default' ? mode : undefined
  const code = agent === 'claude' ? mode : likeCodex[mode]
  return codes.includes(code) ? code : undefined
}

const likeCodex = { default: 'default', acceptEdits: 'auto', plan: 'read-only', bypassPermissions: 'yolo' } as const

/** Where two of them are the same to an agent, one represents both. */
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
