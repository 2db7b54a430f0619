import { withDeadline } from '../../async/deadline.ts'
import type { CodexRewindPoint } from '../../protocol/sealed/calls/machine-work.ts'
import * as v from '../../schema.ts'
import { turnsAfter } from '../agents/codex/history.ts'
import { greet, type Line, startCodexServer } from '../agents/codex/server.ts'
import { openedThread, type Turn } from '../agents/codex/shapes.ts'
import { findCodex, howToGetCodex } from '../agents/programs.ts'
import { codexBeginning, codexHistories } from './codex.ts'

type Env = Readonly<Record<string, string>>

/** The folder of a thread. Throws, with a sentence for the phone, if Codex has no such thread or it is empty. */
export function folderOfThread(env: Env, thread: string): string {
  const file = codexHistories(env).find(({ id }) => id === thread)?.file
  const folder = file === undefined ? undefined : codexBeginning(file)?.folder
  if (folder === undefined) throw new Error(noSuchThread)
  return folder
}

export const noSuchThread = 'Codex has no such conversation on this computer.'

/** Only Codex can read and copy its threads. */
interface CodexForking {
  /** The person's messages, in order: a fork keeps the turn that contains one of these. */
  rewindPoints(thread: string): Promise<CodexRewindPoint[]>
  /** Resolves to the id of the copy; with `at` it goes up to the end of the turn that contains that message. */
  fork(thread: string, at?: string): Promise<string>
}

/** `home` is the wrapper's. */
export function codexForking({ home, env }: { home: string; env: Env }): CodexForking {
  return {
    rewindPoints: thread =>
      asking({ home, env }, async line => {
        const turns = await allTurns(line, thread)
        return turns.flatMap(turn => saidIn(turn).map(({ id, text }) => ({ itemId: id, text, timestamp: (turn.startedAt ?? 0) * 1000 })))
      }),

    fork: (thread, at) =>
      asking({ home, env }, async line => {
        const lastTurnId = at === undefined ? undefined : await turnOf(line, thread, at)
        const how = { threadId: thread, excludeTurns: true, ...(lastTurnId !== undefined && { lastTurnId }) }
        return v.parse(openedThread, await line.request('thread/fork', how)).thread.id
      })
  }
}

const answerWithinMs = 20_000
const endWithinMs = 500

/** By a temporary app server. */
async function asking<Answer>({ home, env }: { home: string; env: Env }, ask: (line: Line) => Promise<Answer>): Promise<Answer> {
  if (process.platform === 'win32') throw new Error('Afield does not support the app server of Codex on Windows yet.')
  const codex = findCodex(env)
  if (codex === undefined) throw new Error(`The command codex was not found. ${howToGetCodex}`)
  const handlers = { onNotification() {}, onRequest() {} }
  const server = await startCodexServer({ home, codex, directory: home, env, handlers })
  try {
    return await withDeadline(answerWithinMs, async () => {
      await greet(server.line)
      return ask(server.line)
    })
  } finally {
    server.line.close()
    await server.process.end(endWithinMs)
  }
}

async function turnOf(line: Line, thread: string, item: string): Promise<string> {
  const turn = (await allTurns(line, thread)).find(turn => saidIn(turn).some(({ id }) => id === item))
  if (!turn) throw new Error('This message is no longer in the conversation.')
  return turn.id
}

function allTurns(line: Line, thread: string): Promise<Turn[]> {
  return turnsAfter(line, { thread, turn: undefined, isSent: false })
}

function saidIn({ items }: Turn): { id: string; text: string }[] {
  return items.flatMap(item => {
    if (item?.type !== 'userMessage') return []
    const text = item.content.flatMap(part => part.text ?? []).join('')
    return text === '' ? [] : [{ id: item.id, text }]
  })
}
