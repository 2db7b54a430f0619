import { isSingleFile } from '../lib/assets.ts'

/** What a person types before a command: `afield`, or from the sources `node build.mjs start`. */
export function commandWord(): string {
  const runsFromSource = import.meta.url.endsWith('.ts') && !isSingleFile()
  return runsFromSource ? 'node build.mjs start' : 'afield'
}
