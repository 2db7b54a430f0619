import t from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import type { Requests } from '../../../../../lib/wrapper/agents/claude/terminal/requests.ts'
import type { OwnStatus } from '../../../../../lib/wrapper/agents/claude/terminal/screen.ts'
import { createAbilities, createPartialText, createTerminalTurn } from '../../../../../lib/wrapper/agents/claude/terminal/turn.ts'
import type { Translator } from '../../../../../lib/wrapper/agents/claude/transcript/history.ts'
import type { Transcript } from '../../../../../lib/wrapper/agents/claude/transcript/transcript.ts'
import type { Usage } from '../../../../../lib/wrapper/agents/claude/usage.ts'

function said(...lines: readonly string[]) {
  const told: AgentEvent[] = []
  const live = createPartialText(event => void (event.type === 'text' && told.push(event)))
  for (const [index, delta] of lines.entries()) live.grow({ hook_event_name: 'MessageDisplay', message_id: 'm', index, delta })
  return { live, told }
}

t.test('growing text that was never recorded is sent as cut off, once', t => {
  const { live, told } = said('one\n', 'two\n')
  live.cut()
  live.cut()
  t.match(told, [{ type: 'text', block: 'live m 0', text: 'one\ntwo', isCut: true }])
  t.equal(told.length, 1)
  t.end()
})

t.test('of a message whose first block was recorded only the rest is cut off', t => {
  const { live, told } = said('one\n', 'two\n', 'three')
  t.equal(live.blockOf('one\ntwo'), 'live m 0')
  live.cut()
  t.match(told, [{ block: 'live m 1', text: 'three', isCut: true }])
  t.end()
})

t.test('text recorded in full, or written again, is not sent as cut off', t => {
  const whole = said('one\n', 'two\n')
  whole.live.blockOf('one\ntwo')
  whole.live.cut()
  const anew = said('one\n')
  anew.live.forget()
  anew.live.cut()
  t.strictSame([...whole.told, ...anew.told], [])
  t.end()
})

t.test('a turn that its last row ends is not reported as stopped; one that falls idle is', async t => {
  /** Claude Code works, then shows that it is idle: its transcript is read once more. */
  const fallsIdle = (readLast: (end: () => void) => void) =>
    new Promise<AgentEvent[]>(resolve => {
      const told: AgentEvent[] = []
      const looks = ['busy', 'idle'] as const
      let look = 0
      const turn = createTerminalTurn({
        emit(event) {
          told.push(event)
          if (event.type === 'turn-ended') setImmediate(resolve, told)
        },
        requests: { endAll() {} } as Requests,
        translator: { cutSteps() {} } as Translator,
        abilities: createAbilities(() => {}),
        usage: {} as Usage,
        transcript: () => ({ read: () => readLast(() => turn.end({ reason: 'done' })) }) as Transcript,
        status: () => looks[Math.min(look++, 1)] as OwnStatus['now']
      })
      turn.begin()
    })
  const [ended, idle] = await Promise.all([fallsIdle(end => end()), fallsIdle(() => {})])
  t.same(ended, [{ type: 'turn-ended', reason: 'done' }])
  t.match(idle, [
    { type: 'notice', text: /stopped at its terminal/ },
    { type: 'turn-ended', reason: 'cancelled' }
  ])
})
