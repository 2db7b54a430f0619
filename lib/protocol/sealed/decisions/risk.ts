import { type CommandWord, wordsOf } from './command-words.ts'
import { hasHidden } from './hidden-characters.ts'
import { type Level, type RiskName, riskLevel } from './risk-names.ts'
import { rules } from './risk-rules.ts'

export { type Level, type RiskName, riskLevel, riskName } from './risk-names.ts'

export interface Risk {
  readonly level: Level
  /** The reasons for the level, most serious first, each once. */
  readonly reasons: readonly RiskName[]
  /** The words that cause it: ranges of the text, ascending, not overlapping. */
  readonly marks: readonly Mark[]
}

export interface Mark {
  readonly from: number
  readonly to: number
}

/** The input for judging risk. `command` is the whole command; `paths` are the files it reads or changes. */
export interface Subject {
  readonly command: string | undefined
  readonly url: string | undefined
  readonly paths: readonly string[]
  /** The folder of the session. */
  readonly folder: string | undefined
  /** Where the command runs, if not in that folder. */
  readonly directory?: string | undefined
  /** Files that this agent changed in this session. */
  readonly edited?: readonly string[]
  readonly isWrite: boolean
  /** Everything else shown for the decision. */
  readonly text: string
}

/** The more serious of two. */
export function higher(one: Level, other: Level): Level {
  return riskLevel.options.indexOf(one) > riskLevel.options.indexOf(other) ? one : other
}

/**
 * The risk level. A list of words cannot see through a clever command, so it only ever raises the level: an unknown command is
 * still shown in full and needs an approval.
 */
export function riskOf(subject: Subject): Risk {
  const found: { name: RiskName; level: Level; mark?: Mark }[] = []
  const { command } = subject
  if (command !== undefined) {
    const isLong = command.length > longestRead || command.split(/[\n;&|]/).some(part => part.length > longestPart)
    const words = isLong ? [] : wordsOf(command)
    const programsAt = words.filter(each => each.mayBeProgram).map(({ text, from }) => (text.startsWith('\\') ? from + 1 : from))
    for (const { name, level, program, anywhere } of isLong ? [] : rules) {
      const matches = [
        ...(program ? programsAt.map(from => matchAt(program, command, from)) : []),
        ...(anywhere ? command.matchAll(anywhere) : [])
      ]
      for (const match of matches) if (match) found.push({ name, level, mark: markOf(match) })
    }
    for (const mark of editedIn(words, subject)) found.push({ name: 'runs-edited', level: 'risky', mark })
    if (isLong || quotesAreOpen(command)) found.push({ name: 'unparsable', level: 'risky' })
  }
  if ([command ?? '', subject.url ?? '', subject.text, ...subject.paths].some(hasHidden)) found.push({ name: 'hidden', level: 'risky' })
  if (subject.paths.some(path => secretPath.test(path))) found.push({ name: 'secrets', level: 'risky' })
  if (subject.directory !== undefined && isOutside(subject.directory, subject.folder)) found.push({ name: 'outside', level: 'careful' })
  if (subject.url !== undefined) found.push({ name: 'network', level: 'careful' })
  if (subject.isWrite && subject.paths.some(path => isOutside(path, subject.folder))) found.push({ name: 'outside', level: 'careful' })
  if (subject.isWrite && subject.paths.length > manyFiles) found.push({ name: 'many-files', level: 'careful' })

  const level = found.some(each => each.level === 'risky') ? 'risky' : found.length > 0 ? 'careful' : 'plain'
  const graveFirst = [...found.filter(each => each.level === 'risky'), ...found.filter(each => each.level === 'careful')]
  return {
    level,
    reasons: [...new Set(graveFirst.map(each => each.name))],
    marks: apart(found.flatMap(each => (each.mark !== undefined && each.level === 'risky' ? [each.mark] : [])))
  }
}

const manyFiles = 8
// In characters. No one reads longer ones, and some rules try each word of a part with each other.
const longestRead = 20_000
const longestPart = 2000

function matchAt(pattern: RegExp, command: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from
  return pattern.exec(command)
}

function markOf(match: RegExpExecArray): Mark {
  const from = match.index + match[0].length - match[0].trimStart().length
  return { from, to: match.index + match[0].trimEnd().length }
}

const secretPath =
  /(^|[/\\])(\.env(\.[\w-]+)?|id_(rsa|ed25519|ecdsa|dsa)|\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pgpass|credentials|secrets?(\.\w+)?|[^/\\]*\.(pem|key|p12|pfx|keystore))([/\\]|$)/i

// Inside single quotes nothing escapes; elsewhere a backslash does. Here-documents are handled by the list above.
function quotesAreOpen(command: string): boolean {
  if (/<<-?\s*["']?\w/.test(command)) return false
  let open = ''
  for (let i = 0; i < command.length; i++) {
    const c = command[i] ?? ''
    if (open === "'") open = c === "'" ? '' : open
    else if (c === '\\') i++
    else if (open === '"') open = c === '"' ? '' : open
    else if (c === '"' || c === "'") open = c
    // The rest of the line is a comment, where an apostrophe does not quote.
    else if (c === '#' && /^$|\s/.test(command[i - 1] ?? '')) i = command.indexOf('\n', i) < 0 ? command.length : command.indexOf('\n', i)
  }
  return open !== ''
}

/** Words of a command that run a file changed by this agent. Their position is enough: the effect of such a file is unknown. */
function editedIn(words: readonly CommandWord[], { folder, directory, edited = [] }: Subject): Mark[] {
  if (edited.length === 0) return []
  const files = edited.map(path => tidy(absolute(path, folder)))
  const at = directory ?? folder
  const marks: Mark[] = []
  let isRunner = false
  for (const { text, from, mayBeProgram } of words) {
    const plain = text.replaceAll(/["'\\]/g, '')
    const program = plain.split('/').at(-1) ?? plain
    const mark = { from, to: from + text.length }
    if (mayBeProgram) {
      isRunner = runners.test(program)
      if (files.some(file => recipes.some(([name, by]) => by.test(program) && name.test(file.split('/').at(-1) ?? '')))) marks.push(mark)
    }
    if ((mayBeProgram || isRunner) && files.includes(tidy(absolute(plain, at)))) marks.push(mark)
  }
  return marks
}

// A program that reads one of these files executes it.
const recipes: readonly [file: RegExp, programs: RegExp][] = [
  [/^package\.json$/, /^(npm|pnpm|yarn|bun)$/],
  [/^(GNU)?[Mm]akefile$/, /^g?make$/],
  [/^\.?justfile$/i, /^just$/],
  [/^Taskfile\.ya?ml$/, /^task$/],
  [/^build\.rs$/, /^cargo$/],
  [/^(build|settings)\.gradle(\.kts)?$/, /^gradlew?$/],
  [/^(docker-)?compose\.ya?ml$|^Dockerfile$/, /^(docker|podman)$/],
  [/^(conftest|setup|noxfile|fabfile)\.py$/, /^(pytest|python[\d.]*|pip\d?|nox|fab)$/]
]
const runners = /^(ba|z|da|k|fi)?sh$|^(node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|source|\.|env|nohup|time|exec|command|xargs)$/

function absolute(path: string, folder: string | undefined): string {
  return /^([/~]|[A-Za-z]:[\\/])/.test(path) || folder === undefined ? path : `${folder.replace(/[/\\]+$/, '')}/${path}`
}

function tidy(path: string): string {
  const out: string[] = []
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') out.pop()
    else if (part !== '.' && part !== '') out.push(part)
  }
  return out.join('/')
}

function isOutside(path: string, folder: string | undefined): boolean {
  if (/(^|[/\\])\.\.([/\\]|$)/.test(path)) return true
  const isAbsolute = /^([/~]|[A-Za-z]:[\\/])/.test(path)
  if (!isAbsolute || folder === undefined) return false
  const base = folder.replace(/[/\\]+$/, '')
  return path !== base && !path.startsWith(`${base}/`) && !path.startsWith(`${base}\\`)
}

function apart(marks: readonly Mark[]): Mark[] {
  const sorted = [...marks].sort((a, b) => a.from - b.from || b.to - a.to)
  const out: Mark[] = []
  for (const mark of sorted) {
    const last = out.at(-1)
    if (last !== undefined && mark.from <= last.to) out[out.length - 1] = { from: last.from, to: Math.max(last.to, mark.to) }
    else out.push(mark)
  }
  return out
}
