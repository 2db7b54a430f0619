import { existsSync } from 'node:fs'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { kindOf } from '../../lib/wrapper/agents/kinds.ts'
import { type Histories, type ListedHistory, openHistories } from '../../lib/wrapper/histories/histories.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { drawHistories } from '../../lib/wrapper/terminal/session-list.ts'
import { pick } from '../pick.ts'
import { agentOptions, anyWords, claudeOptions, readAgentOptions, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return agentOptions(line)
    .positional('words', anyWords('Words from its first prompt or folder, or its ID; without any, you choose from a list'))
    .option('remote', { type: 'boolean', describe: 'Start on the phone, without the agent’s own screen' })
    .option('yes', { type: 'boolean', alias: 'y', describe: 'Install the adapter for Claude Code without asking' })
    .example('$0 adopt login page', 'continue a conversation you started without Afield')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const words = wordsOf(args, 'words')
  const histories = openHistories({ home: options.home.path, env: options.env, isAllowed: () => true })
  const listed = await histories.list({ words: words.join(' '), limit: mostShown })
  const found = [...(await byId(histories, words)), ...listed.histories]
  const { agent, id, folder } = await chooseHistory(found, { ...options, words, histories })
  if (!existsSync(folder)) throw new CannotStart(`Its folder ${folder} no longer exists.`)
  const kind = kindOf({ kind: agent }, claudeOptions(args, options))
  process.exit(await runAgent({ ...options, directory: folder, kind, resume: id }))
}

async function byId(histories: Histories, [id, ...others]: readonly string[]): Promise<ListedHistory[]> {
  if (id === undefined || others.length > 0) return []
  const { histories: all } = await histories.list({ limit: mostLooked })
  return all.filter(history => history.id === id)
}

/** Exported for its test. */
export async function chooseHistory(
  found: readonly ListedHistory[],
  {
    terminal,
    env,
    words,
    histories
  }: Pick<Parameters<typeof runAgent>[0], 'terminal' | 'env'> & { words: readonly string[]; histories: Histories }
): Promise<ListedHistory> {
  const [only, ...others] = found
  if (!only)
    throw new CannotStart(
      words.length > 0
        ? `No conversation matches these words. Pick one with:\n  ${typed('adopt')}`
        : `No agent has a conversation on this computer yet. Start one with:\n  ${typed('claude')}`
    )
  if (others.length === 0 && words.length > 0) return only
  const picked = await pick({
    terminal,
    env,
    entries: found,
    draw: (histories, style, columns) => drawHistories(histories, Date.now(), style, columns),
    search: async words => (await histories.list({ words: words.join(' '), limit: mostShown })).histories
  })
  if (picked === 'nobody') throw new CannotStart('Several conversations match. Give its ID or more words.')
  if (!picked) throw new CannotStart('Nothing was adopted.', 1)
  return picked
}

const mostShown = 30
const mostLooked = 1000
