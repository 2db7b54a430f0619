import t from 'tap'
import type { AgentEvent } from '../../lib/wrapper/agents/agent.ts'
import type { SessionParts } from '../../lib/wrapper/session-parts.ts'
import { createTurns, type Turns } from '../../lib/wrapper/session-turns.ts'

t.test('a message that the agent could not be given ends its turn with a sentence, and comes first with the next', async t => {
  const { turns, given, told, notes } = turnsOf(n => n > 1)
  const serving = turns.serve(0)
  write(turns, 1, 'one')
  await until(() => told.length === 1)
  t.match(told, [{ type: 'turn-ended', reason: 'failed', error: /could not be given this message/ }])
  t.equal(turns.queued, 1)
  t.match(notes(), { turn: null, cursor: 0 }, 'a next run would give it to the agent')

  write(turns, 2, 'two')
  await until(() => given.length === 2)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await until(() => given.length === 3)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.strictSame(given, ['one', 'one', 'two'])
  t.match(notes(), { cursor: 2 })
  turns.close()
  await serving
})

t.test('while what is noted is not on disk the agent is given nothing', async t => {
  const disk = Promise.withResolvers<void>()
  const { turns, given, notes } = turnsOf(
    () => true,
    () => disk.promise
  )
  const serving = turns.serve(0)
  write(turns, 1, 'one')
  await until(() => notes()['turn'] !== null)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(given, [])
  disk.resolve()
  await until(() => given.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  turns.close()
  await serving
})

/** Those of a session without a server, whose agent takes what it is given the n-th time, or not. */
function turnsOf(takes: (count: number) => boolean, noted = async () => {}) {
  const given: string[] = []
  const told: AgentEvent[] = []
  let notes: Record<string, unknown> = { cursor: 0, settled: [], turn: null }
  const nothing = () => {}
  const parts = {
    agent: {
      async prompt(text: string) {
        given.push(text)
        return takes(given.length)
      },
      setMode: async () => true
    },
    folder: {
      get notes() {
        return notes
      },
      note(changes: object) {
        notes = { ...notes, ...changes }
      },
      noted
    },
    narrator: { beginTurn: async () => 'turn', tell: async (event: AgentEvent) => void told.push(event) },
    notices: { turnBegan: nothing, turnEnded: nothing },
    choices: { apply: async () => {} },
    attachments: { join: async (text: string) => ({ text, images: [] }) },
    keeping: { keep: async () => {} },
    decisions: { open: [] },
    questions: { open: [] },
    onChange: nothing
  }
  return { turns: createTurns(parts as unknown as SessionParts), given, told, notes: () => notes }
}

function write(turns: Turns, seq: number, text: string): void {
  turns.hear({ role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web' } }, { seq, localId: `local-${seq}` })
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}
