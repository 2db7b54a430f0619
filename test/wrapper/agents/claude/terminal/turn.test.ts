import t from 'tap'
import type { AgentEvent, TurnEnd } from '../../../../../lib/wrapper/agents/agent.ts'
import type { Requests } from '../../../../../lib/wrapper/agents/claude/terminal/requests.ts'
import type { OwnStatus } from '../../../../../lib/wrapper/agents/claude/terminal/screen.ts'
import {
  type Abilities,
  createAbilities,
  createPartialText,
  createTerminalTurn,
  type Missing
} from '../../../../../lib/wrapper/agents/claude/terminal/turn.ts'
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

t.test('a text grows line by line, in whatever order they arrive, under the name it is then recorded with', t => {
  const told: AgentEvent[] = []
  const live = createPartialText(event => void told.push(event))
  const grow = (index: number | undefined, delta: string | undefined, message_id: string | undefined = 'm') =>
    live.grow({ hook_event_name: 'MessageDisplay', message_id, index, delta })
  grow(undefined, 'lost')
  grow(0, undefined)
  live.grow({ hook_event_name: 'MessageDisplay', index: 0, delta: 'lost' })
  grow(0, ' \n')
  t.strictSame(told, [])
  t.equal(live.blockOf('one'), undefined)
  grow(2, 'two')
  grow(1, 'one\n')
  const grew = (text: string, block = 'live m 0') => ({ type: 'text-grew', block, text, thinking: false })
  t.strictSame(told, [grew('two'), grew('one\ntwo')])
  t.equal(live.blockOf('another'), undefined)
  t.equal(live.blockOf('one\ntwo and more'), 'live m 0')
  grow(3, ' and more')
  t.equal(told.length, 2, 'that was recorded already')
  grow(4, '\nthree')
  t.strictSame(told.at(-1), grew('three', 'live m 1'))
  grow(0, 'next', 'n')
  t.strictSame(told.at(-1), grew('next', 'live n 0'))
  t.end()
})

t.test('a turn ends once, with all that it left open; only one that went its way is judged', t => {
  const cases: [how: TurnEnd, isJudged: boolean][] = [
    [{ reason: 'done' }, true],
    [{ reason: 'failed', error: 'No.' }, true],
    [{ reason: 'cancelled' }, false]
  ]
  for (const [how, isJudged] of cases) {
    const { turn, told } = begun()
    t.equal(turn.isRunning, true)
    turn.end(how)
    turn.end(how)
    t.equal(turn.isRunning, false)
    t.strictSame(told, [
      'requests end',
      'steps end',
      JSON.stringify({ type: 'turn-ended', ...how }),
      ...(isJudged ? ['judged'] : []),
      'requests end'
    ])
    turn.begin()
    told.length = 0
    turn.lose(how)
    t.strictSame(told, ['requests end', 'steps end', JSON.stringify({ type: 'turn-ended', ...how })], 'its program is gone')
  }
  t.end()
})

t.test('a turn that was cut off ends when everything read with it is recorded', t => {
  const { turn, told } = begun()
  turn.endCut()
  turn.cut()
  t.strictSame(told, [])
  turn.endCut()
  t.equal(told.at(-1), JSON.stringify({ type: 'turn-ended', reason: 'cancelled' }))
  turn.begin()
  told.length = 0
  turn.endCut()
  t.strictSame(told, [])
  turn.end({ reason: 'done' })
  t.end()
})

t.test('a turn is over once its last words were recorded, and its usage was told', async t => {
  const done: TurnEnd = { reason: 'done' }
  const { turn, told, reading } = begun()
  turn.said('before')
  turn.begin()
  turn.endOnceReported(' Done.\n', done)
  t.equal(reading.withinMs, 5_000)
  t.equal(reading.isReached(), false)
  turn.said('Done')
  t.equal(reading.isReached(), false)
  turn.said('Done. ')
  t.equal(reading.isReached(), true)
  t.strictSame(told, [])
  reading.end()
  await turn.ending
  t.strictSame(told, ['usage', 'requests end', 'steps end', '{"type":"turn-ended","reason":"done"}', 'judged'])

  for (const last of [undefined, ' \n']) {
    const { turn, reading } = begun()
    turn.endOnceReported(last, done)
    t.equal(reading.isReached(), true, 'it said nothing')
    turn.lose({ reason: 'cancelled' })
  }
  const lost = begun()
  lost.turn.endOnceReported('Done.', done)
  lost.turn.lose({ reason: 'failed', error: 'Gone.' })
  t.equal(lost.told.at(-1), '{"type":"turn-ended","reason":"done"}', 'as it had said')
  lost.turn.begin()
  lost.turn.lose({ reason: 'failed', error: 'Gone.' })
  t.equal(lost.told.at(-1), '{"type":"turn-ended","reason":"failed","error":"Gone."}')
})

t.test('a turn that was asked to stop is over when it has ended, or shows that it is idle', async t => {
  const { turn, told, state } = begun()
  const stopped = turn.whenStopped()
  turn.end({ reason: 'done' })
  await stopped
  turn.begin()
  told.length = 0
  state.status = 'idle'
  await turn.whenStopped()
  t.strictSame(told, ['read', 'requests end', 'steps end', '{"type":"turn-ended","reason":"cancelled"}'], 'and nothing needs to be said')
})

/** A turn that runs, and what it does to the parts around it. */
function begun() {
  const told: string[] = []
  const state: { status: OwnStatus['now'] } = { status: 'busy' }
  const reading = { withinMs: 0, isReached: () => false, end: () => {} }
  const turn = createTerminalTurn({
    emit: event => told.push(JSON.stringify(event)),
    requests: { endAll: () => told.push('requests end') } as unknown as Requests,
    translator: { cutSteps: () => told.push('steps end') } as unknown as Translator,
    abilities: { judgeTurn: () => told.push('judged') } as unknown as Abilities,
    usage: { settled: async () => void told.push('usage') } as Partial<Usage> as Usage,
    transcript: () =>
      ({
        read: () => told.push('read'),
        readUntil(isReached: () => boolean, withinMs: number) {
          Object.assign(reading, { isReached, withinMs })
          return new Promise<void>(resolve => (reading.end = resolve))
        }
      }) as unknown as Transcript,
    status: () => state.status
  })
  turn.begin()
  return { turn, told, state, reading }
}

t.test('what was missing in a turn is reported by what was heard and read', t => {
  const missing: Missing[] = []
  const judged = (...does: ('hear' | 'read')[]) => {
    const abilities = createAbilities(what => missing.push(what))
    for (const what of does) abilities[what]()
    abilities.judgeTurn()
    return abilities.wasHeard
  }
  t.strictSame([judged(), judged('read'), judged('hear'), judged('hear', 'read')], [false, false, true, true])
  t.strictSame(missing, ['hooks', 'hooks', 'transcript'])
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
