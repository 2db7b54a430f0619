import type { AgentEvent, UnsentHistory } from '../agents/agent.ts'
import { readSince } from '../agents/claude/transcript/history.ts'
import { lastTurns } from '../agents/history.ts'
import { claudeHistories } from './claude.ts'
import { codexHistories, codexLines, codexSayings } from './codex.ts'

/**
 * The last turns of a conversation that a new session continues, to be sent in it once; nothing for an
 * agent whose history is not read here.
 */
export function readPast(
  flavor: string,
  conversation: string | undefined,
  env: Readonly<Record<string, string>>
): UnsentHistory | undefined {
  if (conversation === undefined) return undefined
  if (flavor === 'claude') {
    const file = claudeHistories(env).find(({ id }) => id === conversation)?.file
    return file === undefined ? undefined : { events: lastTurns(readSince({ file, offset: 0 }, undefined).events), upTo: undefined }
  }
  if (flavor === 'codex') {
    const file = codexHistories(env).find(({ id }) => id === conversation)?.file
    return file === undefined ? undefined : { events: lastTurns(codexEvents(file, conversation)), upTo: undefined }
  }
  return undefined
}

function codexEvents(file: string, thread: string): AgentEvent[] {
  return codexLines(file).flatMap((line, index) =>
    codexSayings(line).map(({ by, text }): AgentEvent => {
      const row = `${thread} ${index}`
      return by === 'person' ? { type: 'prompted', text, isOurs: false, row } : { type: 'text', block: row, text, thinking: false, row }
    })
  )
}
