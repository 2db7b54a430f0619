import type { StepContent } from '../../protocol/sealed/messages.ts'

// In characters. Longer ones would make a phone download megabytes for one step.
const longestText = 64 * 1024
export const longestDiffSide = 512 * 1024

/** A long text loses its middle. */
export function textContent(text: string): StepContent {
  if (text.length <= longestText) return { type: 'text', text }
  const half = longestText / 2
  const left = text.length - longestText
  return { type: 'text', text: `${text.slice(0, half)}\n… ${left} characters left out …\n${text.slice(-half)}` }
}

/** The change of a file; `oldText` is null if it is new. */
export function diffContent(path: string, oldText: string | null, newText: string): StepContent {
  if (Math.max(oldText?.length ?? 0, newText.length) > longestDiffSide) return tooLarge(path)
  return { type: 'diff', path, oldText, newText }
}

export function tooLarge(path: string): StepContent {
  return { type: 'text', text: `${path}: too large to show here.` }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
