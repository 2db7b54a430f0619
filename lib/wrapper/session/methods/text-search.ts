import { readFile, stat } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import type { TextFound } from '../../../protocol/sealed/calls/search.ts'
import { textOf } from './git-text.ts'
import { walk } from './walk.ts'

export interface TextAsked {
  readonly query: string
  readonly isRegex: boolean
  readonly isCaseSensitive: boolean
  readonly glob: string | undefined
}

type FoundLine = TextFound['files'][number]['lines'][number]

const mostLines = 500
const longestLine = 400
const mostWalked = 5000
const mostBytes = 1024 * 1024

/** Parses the output of `rg --json`. */
export function readRipgrep(output: string, wasCut: boolean): TextFound {
  const gathering = gather()
  for (const line of output.split('\n')) {
    const found = line.startsWith('{"type":"match"') ? matchOf(line) : undefined
    if (found && !gathering.add(found.path, found.line)) break
  }
  return gathering.result(wasCut)
}

function matchOf(text: string): { path: string; line: FoundLine } | undefined {
  try {
    const { data } = JSON.parse(text)
    if (typeof data.path.text !== 'string' || typeof data.lines.text !== 'string' || typeof data.line_number !== 'number') return undefined
    const bytes = Buffer.from(data.lines.text)
    const ranges = data.submatches.map((part: { start: number; end: number }) => ({
      from: bytes.toString('utf8', 0, part.start).length,
      to: bytes.toString('utf8', 0, part.end).length
    }))
    const path = data.path.text.replace(/^\.[\\/]/, '').replaceAll('\\', '/')
    return { path, line: shortened({ number: data.line_number, text: data.lines.text.replace(/\r?\n$/, ''), ranges }) }
  } catch {
    // Truncated in the middle of a line.
    return undefined
  }
}

/** Parses the output of `git grep --null -n`. */
export function readGitGrep(output: string, asked: TextAsked, wasCut: boolean): TextFound {
  const gathering = gather()
  for (const line of output.split('\n')) {
    const parts = /^([^\0]*)\0(\d+)[\0:](.*)$/s.exec(line)
    if (!parts) continue
    const [, path = '', number, text = ''] = parts
    if (!isOfForm(path, asked.glob)) continue
    if (!gathering.add(path, shortened({ number: Number(number), text: text.replace(/\r$/, ''), ...placesIn(text, asked) }))) break
  }
  return gathering.result(wasCut)
}

/** Without ripgrep or git: searches each file that is not too large. */
export async function searchWalking(folder: string, asked: TextAsked): Promise<TextFound> {
  const gathering = gather()
  const { paths, isCut } = await walk(folder, mostWalked)
  for (const path of paths) {
    const file = join(folder, path)
    if (!isOfForm(path, asked.glob) || ((await stat(file).catch(() => undefined))?.size ?? mostBytes) >= mostBytes) continue
    const text = textOf(await readFile(file).catch(() => new Uint8Array(1)))
    if (text === undefined || !addAll(gathering, path, text, asked)) continue
    break
  }
  return gathering.result(isCut)
}

/** Whether the limit is reached. */
function addAll(gathering: ReturnType<typeof gather>, path: string, text: string, asked: TextAsked): boolean {
  return text.split('\n').some((line, index) => {
    const { ranges = [] } = placesIn(line, asked)
    return ranges.length > 0 && !gathering.add(path, shortened({ number: index + 1, text: line.replace(/\r$/, ''), ranges }))
  })
}

function placesIn(text: string, { query, isRegex, isCaseSensitive }: TextAsked): Pick<FoundLine, 'ranges'> {
  if (isRegex) return {}
  const [where, what] = isCaseSensitive ? [text, query] : [text.toLowerCase(), query.toLowerCase()]
  const ranges: { from: number; to: number }[] = []
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) ranges.push({ from: at, to: at + what.length })
  return { ranges }
}

// As in ripgrep: a pattern without a slash matches the file name, in any folder.
function isOfForm(path: string, glob: string | undefined): boolean {
  if (glob === undefined) return true
  return matchesGlob(path, glob) || (!glob.includes('/') && matchesGlob(path, `**/${glob}`))
}

// A line of a minified file is longer than a screen: the match is shown with some context.
function shortened(line: FoundLine): FoundLine {
  if (line.text.length <= longestLine) return line
  const start = Math.max(0, (line.ranges?.[0]?.from ?? 0) - 80)
  const text = line.text.slice(start, start + longestLine)
  const ranges = line.ranges
    ?.map(({ from, to }) => ({ from: from - start, to: Math.min(to - start, text.length) }))
    .filter(({ from }) => from < text.length)
  return { ...line, text, ...(ranges && { ranges }) }
}

function gather() {
  const linesByPath = new Map<string, FoundLine[]>()
  let count = 0
  return {
    /** False once the limit is reached. */
    add(path: string, line: FoundLine): boolean {
      if (count === mostLines) return false
      count++
      const lines = linesByPath.get(path)
      if (lines) lines.push(line)
      else linesByPath.set(path, [line])
      return true
    },
    result(wasCut: boolean): TextFound {
      return { files: [...linesByPath].map(([path, lines]) => ({ path, lines })), isCut: wasCut || count === mostLines }
    }
  }
}
