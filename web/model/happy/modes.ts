import type { Choice, SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { session as words } from '../../words/session.ts'
import { happyCodes } from './codes.ts'

/**
 * The modes of an agent that Happy's wrapper drives itself, in words. One that a person picks is kept in the metadata, where all apps see
 * it, and goes with every message.
 */
export function happyModes(metadata: SessionMetadata): { modes: readonly Choice[]; mode: string | undefined } | undefined {
  const codes = happyCodes(metadata)
  if (codes === undefined) return undefined
  const first = metadata['dangerouslySkipPermissions'] === true ? codes.at(-1) : codes[0]
  const flavor = metadata.flavor ?? 'claude'
  return { modes: codes.map(code => choiceOf(flavor, code)), mode: metadata.permissionMode ?? first }
}

function choiceOf(flavor: string, code: string): Choice {
  const name = code === 'auto' ? 'auto' : flavor === 'gemini' ? 'harmless' : 'inside'
  // The others have the words that they have everywhere.
  const [value, description] = code === 'auto' || code === 'safe-yolo' ? words.happyModes[name] : [code, '']
  return { code, value, description }
}
