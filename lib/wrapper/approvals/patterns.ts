import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { RulePattern } from '../../protocol/sealed/decisions/rules.ts'
import { confine } from '../home/confinement.ts'
import type { Request } from './request.ts'
import { type SimpleCommand, simpleCommands } from './shell-words.ts'

/** Why this cannot be a rule, in a sentence for a person; undefined if it can. */
export function faultOf({ on, pattern, folder }: RulePattern): string | undefined {
  if (!isAbsolute(folder)) return 'The folder of a rule must be an absolute path.'
  if (/[\p{Cc}\p{Cf}]/u.test(pattern)) return 'The pattern contains invisible characters.'
  switch (on) {
    case 'command': {
      const words = patternWords(pattern)
      if (words === undefined)
        return 'A command pattern is a program and its words, where * stands for more. Without ; & | < > $ and the like.'
      const program = words[0]?.split('/').at(-1) ?? ''
      if (words[0]?.includes('*')) return 'The program cannot be a wildcard.'
      if (runsOthers.has(program) && pattern.includes('*')) return `${program} runs other programs, so this would allow any command.`
      return undefined
    }
    case 'change':
    case 'read':
      if (isAbsolute(pattern) || pattern.split('/').includes('..')) return 'File patterns must be relative to the folder of the rule.'
      return undefined
    case 'page':
      return /^(\*\.)?[\w-]+(\.[\w-]+)*(:\d+)?$/.test(pattern)
        ? undefined
        : 'A page is allowed by its host, such as docs.rs or *.example.org.'
    case 'tool':
      return /^[\w.:-]+\*?$/.test(pattern) ? undefined : 'A tool is allowed by its name; a * at the end stands for the rest of it.'
  }
}

/**
 * Whether rules allow the whole request. In a line with several commands each must be allowed, though not
 * by the same rule. `home` is the wrapper's own folder.
 */
export function allowing<Rule extends RulePattern>(rules: readonly Rule[], asked: Request, home: string): Rule | undefined {
  if (asked.isOdd) return undefined
  const isAbout = ({ on, tool = asked.tool }: Rule) => on === asked.on && tool === asked.tool
  const fitting = rules.filter(rule => isAbout(rule) && faultOf(rule) === undefined && isBelow(asked, rule.folder, home))
  if (asked.on !== 'command') return fitting.find(rule => fits(rule, asked, home))
  const commands = asked.command === undefined ? undefined : simpleCommands(asked.command)
  if (!commands) return undefined
  const found = commands.map(command => fitting.find(rule => fitsCommand(rule.pattern, command)))
  return found.every(rule => rule !== undefined) ? found[0] : undefined
}

/** The narrowest pattern that allows the request, for a person to widen; undefined if no rule can. */
export function suggested(asked: Request): string | undefined {
  if (asked.isOdd) return undefined
  switch (asked.on) {
    case 'command': {
      const commands = asked.command === undefined ? undefined : simpleCommands(asked.command)
      // A rule is about one program; a line of several needs one for each.
      const [words, ...others] = commands ?? []
      // A star would match anything.
      return words && others.length === 0 && !words.some(word => word.includes('*')) ? words.map(quoted).join(' ') : undefined
    }
    case 'change':
    case 'read': {
      const [path, ...others] = asked.paths
      if (path === undefined || others.length > 0) return undefined
      const below = relative(asked.folder, resolve(asked.folder, path))
      return below === '' || isAbsolute(below) || below.startsWith('..') ? undefined : below.split(sep).join('/')
    }
    case 'page':
      return hostOf(asked.url)
    case 'tool':
      return /^[\w.:-]+$/.test(asked.tool) ? asked.tool : undefined
  }
}

function fits({ on, pattern, folder }: RulePattern, asked: Request, home: string): boolean {
  switch (on) {
    case 'command':
      return false
    case 'change':
    case 'read':
      return asked.paths.length > 0 && asked.paths.every(path => fitsFile(pattern, folder, resolve(asked.folder, path), on, home))
    case 'page': {
      const host = hostOf(asked.url)
      return host !== undefined && (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)
    }
    case 'tool':
      return pattern.endsWith('*') ? asked.tool.startsWith(pattern.slice(0, -1)) : asked.tool === pattern
  }
}

/** With links resolved, the file's real path. */
function fitsFile(pattern: string, folder: string, path: string, on: 'change' | 'read', home: string): boolean {
  try {
    const confinement = confine([folder], home)
    const real = on === 'change' ? confinement.checkChange(path) : confinement.check(path)
    return fitsPath(pattern.split('/'), relative(confinement.roots[0] ?? folder, real).split(sep))
  } catch {
    return false
  }
}

/** `*` stays within a name, `**` goes deeper. A leading dot must be written out. */
function fitsPath([first, ...rest]: readonly string[], path: readonly string[]): boolean {
  if (first === undefined) return path.length === 0
  if (first === '**') {
    const visible = path.findIndex(name => name.startsWith('.'))
    const depths = [...Array((visible < 0 ? path.length : visible) + 1).keys()]
    return depths.some(depth => (rest.length === 0 ? depth > 0 && depth === path.length : fitsPath(rest, path.slice(depth))))
  }
  const [name, ...below] = path
  if (name === undefined || (first.startsWith('*') && name.startsWith('.'))) return false
  return partsOf(first).test(name) && fitsPath(rest, below)
}

/** `*` at the end of a pattern matches any further words, within a word part of it. */
function fitsCommand(pattern: string, command: SimpleCommand): boolean {
  const words = patternWords(pattern) ?? []
  const isOpen = words.at(-1) === '*'
  const fixed = isOpen ? words.slice(0, -1) : words
  if (isOpen ? command.length < fixed.length : command.length !== fixed.length) return false
  return fixed.every((word, index) => fitsWord(word, command[index] ?? '')) && command.slice(fixed.length).every(isTame)
}

function fitsWord(pattern: string, word: string): boolean {
  if (!pattern.includes('*')) return pattern === word
  if (pattern === '*') return isTame(word)
  return partsOf(pattern).test(word) && !hasWayOut(word) && (!pattern.startsWith('*') || isTame(word))
}

/** What a person who wrote `*` meant: no option, which may change what the program does, and no file elsewhere. */
function isTame(word: string): boolean {
  return !/^[-/~]/.test(word) && !/[=:][/~]/.test(word) && !hasWayOut(word)
}

function hasWayOut(word: string): boolean {
  return /(^|[/=:])\.\.(\/|$)/.test(word)
}

function patternWords(pattern: string): SimpleCommand | undefined {
  const [words, ...others] = simpleCommands(pattern, { hasStars: true }) ?? []
  return others.length === 0 && !/[;|&\n]\s*$/.test(pattern) ? words : undefined
}

/** With stars for anything. */
function partsOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 's')
}

const runsOthers = new Set(
  'sh bash zsh dash ksh fish env xargs sudo doas su nohup nice timeout watch node deno bun python python3 perl ruby php awk gawk ssh find parallel npx bunx uvx tsx script osascript pwsh powershell cmd docker podman kubectl'.split(
    ' '
  )
)

function isBelow({ folder, directory }: Request, root: string, home: string): boolean {
  try {
    const { check } = confine([root], home)
    for (const path of [folder, ...(directory === undefined ? [] : [resolve(folder, directory)])]) check(path)
    return true
  } catch {
    return false
  }
}

function hostOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { protocol, host, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === '' ? host : undefined
}

function quoted(word: string): string {
  return /^[\w@%+:,./=-]+$/.test(word) ? word : word.includes("'") ? `"${word}"` : `'${word}'`
}

function escaped(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * The rule meant by the tools that an existing app allows with its answer: `Bash(npm test)`, `Bash(npm
 * run:*)`, or a tool by its name. It says nothing about the shown request, so the rule is made from it
 * alone. Undefined if that is not the request, or would allow more than a rule may: a program that runs
 * others, or every page.
 */
export function ruleOfTools(allowTools: readonly string[], asked: Request): RulePattern | undefined {
  const { tool, folder } = asked
  const of = (on: RulePattern['on'], pattern: string | undefined) => (pattern === undefined ? undefined : { on, pattern, folder, tool })
  switch (asked.on) {
    case 'command':
      return of('command', commandPattern(allowTools, asked))
    // Anywhere in the session's folder, as far as a rule may reach there.
    case 'change':
    case 'read':
      return of(asked.on, allowTools.includes(tool) ? '**' : undefined)
    case 'tool':
      return of('tool', allowTools.includes(tool) ? suggested(asked) : undefined)
    case 'page':
      return undefined
  }
}

/** Exactly this command, or any that begins with these words. */
function commandPattern(allowTools: readonly string[], asked: Request): string | undefined {
  const begin = `${asked.tool}(`
  const inside = allowTools.find(each => each.startsWith(begin) && each.endsWith(')'))?.slice(begin.length, -1)
  if (inside === undefined) return undefined
  if (inside === asked.command) return suggested(asked)
  return /^[^*]+:\*$/.test(inside) ? `${inside.slice(0, -2)} *` : undefined
}
