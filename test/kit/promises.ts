import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A rule of `docs/behaviour.md`. */
interface Rule {
  id: string
  section: string
  text: string
}

/** The rules of this section name the script that proves them. */
export const provedByScripts = 'Verified by scripts'
/** Those of these have no proof, and say so. */
export const unproved = ['Waiting for several instances']

export function rules(): Rule[] {
  const text = readFileSync(join(root, 'docs/behaviour.md'), 'utf8')
  return text.split(/^## /m).flatMap(part => {
    const section = part.slice(0, part.indexOf('\n'))
    return [...part.matchAll(/^- \*\*([A-Z]\d+)\*\* (.*)$/gm)].map(([, id = '', text = '']) => ({ id, section, text }))
  })
}

/** Which rules the tests name, and one file that does. */
export function citedIds(): Map<string, string> {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    path => /\.tsx?$/.test(path) && path !== 'behaviour.test.ts' && !path.includes('tap-testdir')
  )
  return new Map(files.flatMap(file => idsIn(readFileSync(join(root, 'test', file), 'utf8')).map(id => [id, file])))
}

// Titles end with their rules; so do titles that stand in a table.
export function idsIn(source: string): string[] {
  const ends = source.matchAll(/[ '"`]\[([A-Z]\d+(?:(?:, |\] \[)[A-Z]\d+)*)\]['"`]/g)
  return [...ends].flatMap(([, ids = '']) => ids.split(/, |\] \[/))
}

/** Whether a file has a test of this title, with or without the rules at its end. */
export function hasTest(file: string, title: string): boolean {
  if (!existsSync(join(root, file))) return false
  const text = readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'")
  return ["'", '"', '`'].some(quote => text.includes(`${quote}${title}${quote}`) || text.includes(`${quote}${title} [`))
}
