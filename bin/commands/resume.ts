import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { removeSignIn, signInHome } from '../../lib/wrapper/agents/codex/sign-in.ts'
import { kindOf } from '../../lib/wrapper/agents/kinds.ts'
import { resumedMode } from '../../lib/wrapper/agents/modes.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { untilFree } from '../../lib/wrapper/home/ownership.ts'
import { type KnownSession, listSessions, reopen, type SessionFolder } from '../../lib/wrapper/home/session-folder.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { drawSessions, findSessions, type NumberedSession, numbered } from '../../lib/wrapper/terminal/session-list.ts'
import type { Terminal } from '../../lib/wrapper/terminal/terminal.ts'
import { pick } from '../pick.ts'
import { anyWords, claudeOptions, readAgentOptions, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return line
    .positional(
      'words',
      anyWords('Its number in the list of sessions, words from its title or folder, or its ID; without any, you choose from a list')
    )
    .option('mode', {
      type: 'string',
      requiresArg: true,
      describe: 'Mode to continue in; by default the agent asks first, or keeps planning'
    })
    .option('remote', { type: 'boolean', describe: 'Start on the phone, without the agent’s own screen' })
    .option('yes', { type: 'boolean', alias: 'y', describe: 'Install the adapter for Claude Code without asking' })
    .option('tag', { type: 'string', hidden: true })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const { home, terminal, env } = options
  const words = wordsOf(args, 'words')
  const known = numbered(listSessions(home.path))
  const ended = known.filter(({ pid, notes }) => pid === undefined && notes.program)
  const chosen = byNumber(known, words) ?? (await chooseSession(findSessions(ended, words), { all: ended, terminal, env, words }))
  const { program, metadata, tag } = chosen.notes
  if (!program) throw new CannotStart('This session was made by an earlier version and cannot be resumed.')
  const [{ refuseDeleted }, { fetch }] = await Promise.all([
    import('../../lib/wrapper/run/refuse-deleted.ts'),
    import('../../lib/wrapper/uplink/network.ts')
  ])
  await refuseDeleted(home, chosen, fetch)
  const earlier = await reopenFree(home.path, chosen)
  if (!earlier) throw new CannotStart('Another process has just resumed this session.')
  const kind = kindOf(program, claudeOptions(args, options))
  const goOn = {
    mode: options.mode ?? resumedMode(metadata.currentOperatingModeCode ?? undefined),
    model: options.model ?? metadata.currentModelCode ?? undefined,
    effort: options.effort ?? metadata.currentThoughtLevelCode ?? undefined
  }
  const own = { ...env, ...signInHome(home.path, tag) }
  const running = runAgent({ ...options, ...goOn, env: own, directory: metadata.path, kind, earlier })
  process.exit(await running.finally(() => removeSignIn(home.path, tag)))
}

/** The session with this number in the list of `sessions`, when the number is the only word. */
function byNumber(known: readonly NumberedSession[], [word = '', ...more]: readonly string[]): NumberedSession | undefined {
  const named = more.length === 0 ? known.find(({ number }) => String(number) === word) : undefined
  if (named?.pid !== undefined) throw new CannotStart(`Session ${word} is still running. Only an ended session can be resumed.`)
  return named
}

function isNumber([word = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && /^\d{1,4}$/.test(word)
}

/** Its undelivered messages pass to the process that resumes it. */
async function reopenFree(home: string, { notes: { tag } }: KnownSession): Promise<SessionFolder | undefined> {
  const free = await untilFree(() => listSessions(home).find(({ notes }) => notes.tag === tag), freeWithinMs).catch(() => {
    throw new CannotStart('The remaining messages of this session are being delivered. Try again in a moment.')
  })
  return free.pid === undefined ? reopen(free) : undefined
}

const freeWithinMs = 15_000

interface Choosing {
  /** Including those that do not match the words. */
  all: readonly NumberedSession[]
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  words: readonly string[]
}

/** Exported for its test. */
export async function chooseSession(found: readonly NumberedSession[], { all, terminal, env, words }: Choosing): Promise<KnownSession> {
  const [only, ...others] = found
  if (!only)
    throw new CannotStart(
      words.length > 0
        ? `${isNumber(words) ? `No session has the number ${words[0]}.` : 'No ended session matches these words.'} See them with:\n  ${typed('sessions')}`
        : `No session has ended on this computer yet. See running sessions with:\n  ${typed('sessions')}`
    )
  if (others.length === 0 && words.length > 0) return only
  const picked = await pick({
    terminal,
    env,
    entries: found,
    numberOf: ({ number }) => number,
    draw: (sessions, style, columns) => drawSessions(sessions, Date.now(), style, columns),
    search: words => findSessions(all, words)
  })
  if (picked === 'nobody') throw new CannotStart('Several sessions match. Give its ID or more words.')
  if (!picked) throw new CannotStart('Nothing was resumed.', 1)
  return picked
}
