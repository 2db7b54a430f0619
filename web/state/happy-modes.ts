import type { Choice, SessionMetadata } from '../../lib/protocol/sealed/session.ts'
import { session as words } from '../words/session.ts'

/** What a new session can be asked for, in the codes that helpers of ours take for any agent. */
export type StartMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'

/**
 * The modes of an agent that Happy's wrapper drives itself. It tells of none: what it obeys is written in it. A mode that a person picks is
 * kept in the metadata, where all apps see it, and goes with every message.
 */
export function happyModes(metadata: SessionMetadata): { modes: readonly Choice[]; mode: string | undefined } | undefined {
  if (metadata.methods !== undefined || metadata.operatingModes !== undefined) return undefined
  const flavor = metadata.flavor ?? 'claude'
  const codes = codesOf(flavor)
  if (codes === undefined) return undefined
  const first = metadata['dangerouslySkipPermissions'] === true ? codes.at(-1) : codes[0]
  return { modes: codes.map(code => choiceOf(flavor, code)), mode: metadata.permissionMode ?? first }
}

/** What a message says so that an agent of Happy's works in the mode that was picked; undefined when none was, or the agent tells its own. */
export function saidMode(metadata: SessionMetadata | undefined): string | undefined {
  if (!metadata?.permissionMode || happyModes(metadata) === undefined) return undefined
  const { permissionMode: mode } = metadata
  // That wrapper lets nobody go from "never asks" to "default"; of this one it makes the same for Claude.
  return (metadata.flavor ?? 'claude') === 'claude' && mode === 'default' ? 'read-only' : mode
}

/** The agent's own name for a mode; undefined when it has none like it. */
export function happyModeOf(agent: string, mode: StartMode): string | undefined {
  const codes = codesOf(agent)
  if (codes === undefined) return mode === 'default' ? mode : undefined
  const code = agent === 'claude' ? mode : likeCodex[mode]
  return codes.includes(code) ? code : undefined
}

const likeCodex = { default: 'default', acceptEdits: 'auto', plan: 'read-only', bypassPermissions: 'yolo' } as const

/** From the one that asks most to the one that never asks. Where two of them are the same to an agent, one stands for both. */
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

function choiceOf(flavor: string, code: string): Choice {
  const name = code === 'auto' ? 'auto' : flavor === 'gemini' ? 'harmless' : 'inside'
  // The others have the words that they have everywhere.
  const [value, description] = code === 'auto' || code === 'safe-yolo' ? words.happyModes[name] : [code, '']
  return { code, value, description }
}
