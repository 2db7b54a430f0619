import { parsePatch, type StructuredPatch } from 'diff'
import type { StepContent } from '../../../protocol/sealed/messages.ts'

/** The pieces of a unified diff, each as it stands before and after; of a new file nothing stands before. */
export function diffsOf(patch: string, path?: string): StepContent[] {
  return filesOf(patch).flatMap(({ hunks, newFileName }) => {
    const named = path ?? newFileName
    if (named === undefined) return []
    return hunks.map(({ oldLines, oldStart, lines }): StepContent => {
      const isNew = oldLines === 0 && oldStart <= 1
      return { type: 'diff', path: named, oldText: isNew ? null : sideOf(lines, '-'), newText: sideOf(lines, '+') }
    })
  })
}

function filesOf(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch)
  } catch {
    return []
  }
}

function sideOf(lines: readonly string[], sign: '-' | '+'): string {
  let text = ''
  let last = ''
  for (const line of lines) {
    const first = line[0] ?? ''
    if (first === '\\') {
      // "No newline at end of file" is said of the line before.
      if (last === sign || last === ' ') text = text.slice(0, -1)
    } else if (first === sign || first === ' ') text += `${line.slice(1)}\n`
    last = first
  }
  return text
}
