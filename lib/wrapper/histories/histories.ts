import { readFile } from 'node:fs/promises'
import type { AgentHistory } from '../../protocol/sealed/calls/machine-work.ts'
import { plainLine, titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import { agentEnvironment } from '../home/credentials.ts'
import { listSessions } from '../home/session-folder.ts'
import { claudeBeginning, claudeHistories, claudeSayings, openInClaude } from './claude.ts'
import { codexBeginning, codexHistories, codexSayings } from './codex.ts'
import type { Beginning, FiledHistory, History, Saying, ToldHistory } from './history.ts'
import { openOpencodeHistories } from './opencode.ts'

interface HistoriesOptions {
  /** The wrapper's. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Where sessions may start: other conversations are not shown. */
  isAllowed(folder: string): boolean
}

export type ListedHistory = AgentHistory & Pick<History, 'agent'>

export interface Histories {
  /** Latest first. A page may be shorter than asked for, also empty, and have a next one: it ends when looking took long. */
  list(asked: {
    agent?: string | undefined
    words?: string | undefined
    cursor?: string | undefined
    limit?: number | undefined
  }): Promise<{ histories: ListedHistory[]; cursor: string | null }>
  search(asked: { words: string; limit?: number | undefined }): Promise<{
    hits: (AgentHistory & Saying & { sentence: string })[]
    isComplete: boolean
  }>
}

const usualLimit = 30
const mostLooked = 3_000
const lookWithinMs = 6_000
const searchWithinMs = 15_000
const mostSearchedBytes = 512 * 1024 * 1024
const mostFileBytes = 64 * 1024 * 1024
const mostTitle = 200

/** The agents' own conversations on this computer. */
export function openHistories({ home, env, isAllowed }: HistoriesOptions): Histories {
  const own = agentEnvironment(env)
  const opencode = openOpencodeHistories(own)
  const beginnings = new Map<string, Beginning | undefined>()

  const filed = () => [...claudeHistories(own), ...codexHistories(own)]
  const all = async (agent?: string) =>
    [...filed(), ...(await opencode.list())].filter(history => agent === undefined || history.agent === agent).toSorted(latestFirst)

  const beginningOf = (history: FiledHistory | ToldHistory) => {
    if (history.agent === 'opencode') return history.beginning
    const known = beginnings.get(history.file)
    if (known) return known
    const read = history.agent === 'claude' ? claudeBeginning(history.file) : codexBeginning(history.file)
    beginnings.set(history.file, read)
    return read
  }

  const describe = () => {
    const sessions = listSessions(home)
    const open = openInClaude(own)
    return ({ agent, id, at }: History, { title, folder }: Beginning): ListedHistory => {
      const known = sessions.filter(({ notes }) => notes.metadata.agentSessionId === id)
      const runs = known.find(({ pid }) => pid !== undefined)
      const session = (runs ?? known[0])?.notes.id
      const openIn = runs ? ('session' as const) : open.has(id) ? ('terminal' as const) : undefined
      return {
        agent,
        id,
        at: Math.floor(at),
        title: titleOfPrompt(title) ?? plainLine(title).slice(0, mostTitle),
        folder,
        ...(session !== undefined && { session }),
        ...(openIn && { openIn })
      }
    }
  }

  /** The latest match of each conversation that has one. */
  const searchOpencode = async (wanted: readonly string[], show: ReturnType<typeof describe>) => {
    const histories = new Map((await opencode.list()).map(history => [history.id, history]))
    const sayings = await opencode.search(wanted).catch(() => undefined)
    const hits = (sayings ?? []).flatMap(({ id, ...saying }) => {
      const history = histories.get(id)
      if (!history || !isAllowed(history.beginning.folder) || !hasAll(saying.text, wanted)) return []
      histories.delete(id)
      return [{ ...show(history, history.beginning), ...saying, sentence: around(saying.text, wanted) }]
    })
    return { hits, isComplete: sayings !== undefined }
  }

  return {
    async list({ agent, words = '', cursor, limit = usualLimit }) {
      const wanted = wordsIn(words)
      const show = describe()
      const began = performance.now()
      const found: ListedHistory[] = []
      const known = await all(agent)
      const after = cursor === undefined ? known : known.filter(history => isAfter(history, cursor))
      for (const [index, history] of after.entries()) {
        const last = after[index - 1]
        if (last && (index === mostLooked || performance.now() - began > lookWithinMs)) return { histories: found, cursor: placeOf(last) }
        const beginning = beginningOf(history)
        if (!beginning || !isAllowed(beginning.folder) || !hasAll(`${beginning.title}\n${beginning.folder}`, wanted)) continue
        found.push(show(history, beginning))
        if (found.length === limit) return { histories: found, cursor: after[index + 1] ? placeOf(history) : null }
      }
      return { histories: found, cursor: null }
    },

    async search({ words, limit = usualLimit }) {
      const wanted = wordsIn(words)
      const show = describe()
      const began = performance.now()
      const hits: (AgentHistory & Saying & { sentence: string })[] = []
      let bytes = 0
      const found = await searchOpencode(wanted, show)
      hits.push(...found.hits.slice(0, limit))
      for (const history of filed().toSorted(latestFirst)) {
        if (hits.length >= limit || bytes > mostSearchedBytes || performance.now() - began > searchWithinMs)
          return { hits, isComplete: false }
        const beginning = beginningOf(history)
        if (!beginning || !isAllowed(beginning.folder)) continue
        const content = await readFile(history.file)
        bytes += content.length
        const saying = firstWith(content.subarray(0, mostFileBytes).toString(), wanted, history.agent)
        if (saying) hits.push({ ...show(history, beginning), ...saying, sentence: around(saying.text, wanted) })
      }
      return { hits: hits.toSorted((one, other) => other.at - one.at), isComplete: found.isComplete }
    }
  }
}

function firstWith(content: string, wanted: readonly string[], agent: FiledHistory['agent']): Saying | undefined {
  const read = agent === 'claude' ? claudeSayings : codexSayings
  for (const line of content.split('\n')) {
    // Most lines are recognized without parsing.
    if (!hasAll(line, wanted)) continue
    const saying = read(line).find(({ text }) => hasAll(text, wanted))
    if (saying) return saying
  }
  return undefined
}

const mostAround = 90

function around(text: string, [first = '']: readonly string[]): string {
  const at = text.toLowerCase().indexOf(first)
  const from = Math.max(0, at - mostAround)
  const to = Math.min(text.length, at + first.length + mostAround)
  return `${from > 0 ? '…' : ''}${text.slice(from, to).replace(/\s+/g, ' ').trim()}${to < text.length ? '…' : ''}`
}

function wordsIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
}

function hasAll(text: string, wanted: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return wanted.every(word => lower.includes(word))
}

function latestFirst(one: History, other: History): number {
  return other.at - one.at || (one.id < other.id ? -1 : 1)
}

function placeOf({ at, id }: History): string {
  return `${at} ${id}`
}

function isAfter({ at, id }: History, cursor: string): boolean {
  const [time = '', last = ''] = cursor.split(' ')
  return at < Number(time) || (at === Number(time) && id > last)
}
