/** Search matches by file, in the reported order. */
export interface FileHits {
  readonly file: string
  readonly hits: readonly { readonly line: number; readonly text: string }[]
}

/** Undefined if the text is not a list of `file:line:text`: then it is shown unchanged. */
export function hitsOf(output: string): readonly FileHits[] | undefined {
  const byFile = new Map<string, { line: number; text: string }[]>()
  for (const row of output.split('\n')) {
    if (row.trim() === '' || row === '--') continue
    const [, file, line, text = ''] = hit.exec(row) ?? []
    if (file === undefined) return undefined
    const hits = byFile.get(file) ?? []
    hits.push({ line: Number(line), text: text.trimEnd() })
    byFile.set(file, hits)
  }
  return byFile.size === 0 ? undefined : [...byFile].map(([file, hits]) => ({ file, hits }))
}

// A drive letter has a colon too; a column may follow the line.
const hit = /^((?:[A-Za-z]:)?[^:\s][^:]*):(\d+):(?:\d+:)?(.*)$/
