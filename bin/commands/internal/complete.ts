import type { ArgumentsCamelCase, Argv } from 'yargs'
import { helpPages } from '../../../lib/help-pages.ts'
import { plainLine } from '../../../lib/protocol/sealed/plain-line.ts'
import { homePath } from '../../../lib/wrapper/home/own-process.ts'
import { listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { describeSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'

/** As in the list of commands. */
interface Listed {
  usage: string
  about: string | false
  load(): Promise<{ builder(line: Argv): Argv }>
}

/** A possible next word of a command line, with a short description. */
interface Candidate {
  word: string
  about: string
}

// Called by the scripts of `completion` with the words typed so far after `--`, the last one unfinished.
export function builder(line: Argv): Argv {
  return line
}

export function handlerFor(commands: readonly Listed[]) {
  return async (args: ArgumentsCamelCase): Promise<void> => {
    const [name, ...words] = [args['--'] ?? []].flat().map(String)
    const command = commands.find(({ usage }) => usage.split(' ')[0] === name)
    if (!command) return
    const current = words.at(-1) ?? ''
    const found = await candidates(command, words.slice(0, -1), current, commands)
    const lines = found.filter(({ word }) => word.startsWith(current)).map(({ word, about }) => `${word}\t${plainLine(about)}\n`)
    process.stdout.write(lines.join(''))
  }
}

async function candidates(
  { usage, load }: Listed,
  before: readonly string[],
  current: string,
  commands: readonly Listed[]
): Promise<Candidate[]> {
  const [{ default: yargs }, { builder }] = await Promise.all([import('yargs'), load()])
  const line = builder(yargs([])) as Argv & DescribedLine
  const { key, hiddenOptions, choices, alias } = line.getOptions()
  const abouts = line.getInternalMethods().getUsageInstance().getDescriptions()
  const positionals = [...usage.matchAll(/[<[](\w+)/g)].map(([, name = '']) => name)
  const optionOf = (word: string) =>
    Object.keys(alias).find(name => word === `--${name}` || alias[name]?.some(other => word === `-${other}`))
  const named = optionOf(before.at(-1) ?? '') ?? before.at(-1)?.replace(/^--/, '')
  const values = before.at(-1)?.startsWith('-') ? choices[named ?? ''] : undefined
  if (values) return values.map(word => ({ word: String(word), about: '' }))
  if (current.startsWith('-')) {
    const hidden = new Set([...hiddenOptions, ...positionals, 'version'])
    return Object.keys(key)
      .filter(name => name.length > 1 && !hidden.has(name))
      .map(name => ({ word: `--${name}`, about: (abouts[name] ?? '').replace('__yargsString__:', '') }))
  }
  if (before.length > 0) return []
  if (usage.startsWith('resume') || usage.startsWith('sessions')) return sessionIds()
  if (usage.startsWith('help')) return topics(commands)
  return (choices[positionals[0] ?? ''] ?? []).map(word => ({ word: String(word), about: '' }))
}

function topics(commands: readonly Listed[]): Candidate[] {
  const named = commands.flatMap(({ usage, about }) => (about === false ? [] : [{ word: usage.split(' ')[0] ?? usage, about }]))
  return [...named, ...helpPages.map(word => ({ word, about: 'a page of the manual' }))]
}

function sessionIds(): Candidate[] {
  const known = describeSessions(numbered(listSessions(homePath(process.env))))
  return known.flatMap(({ id, title }) => (id === undefined ? [] : [{ word: id, about: title }]))
}

/** Missing in the types of the parser. */
interface DescribedLine {
  getOptions(): {
    key: Record<string, unknown>
    hiddenOptions: string[]
    choices: Record<string, readonly unknown[]>
    alias: Record<string, string[]>
  }
  getInternalMethods(): { getUsageInstance(): { getDescriptions(): Record<string, string> } }
}
