import t from 'tap'
import { createWaker, pausesMs, type WakeNotes } from '../../../../lib/wrapper/daemon/catch-up/wake.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

/** Sessions in which the messages of people have these numbers, on a computer whose agents fail, or not. */
function asleep({ fails = false } = {}) {
  const clock = manualClock()
  const notes = new Map<string, WakeNotes>()
  const written: number[] = []
  const woken: string[] = []
  const told: string[] = []
  const reads: number[] = []
  const waking = createWaker({
    notes,
    clock,
    save() {},
    async lastUnread(_, after) {
      reads.push(after)
      return written.filter(seq => seq > after).at(-1)
    },
    async wake(id) {
      woken.push(id)
      if (fails) throw new Error('The command gone was not found.')
    },
    async tellFailed(_, why) {
      told.push(why)
    }
  })
  return {
    clock,
    written,
    woken,
    told,
    reads,
    look: (seq: number, settledUpTo = 0, reason?: string) => waking.look([{ id: 's', settledUpTo, seq, reason }])
  }
}

t.test('a session with a message its agent does not have is resumed, and checked messages are not read again [W8]', async t => {
  const { look, written, woken, reads } = asleep()
  await look(4)
  t.strictSame(woken, [], 'what the agent said itself wakes nobody')
  await look(4)
  t.strictSame(reads, [0], 'and is read once')
  written.push(5)
  await look(5)
  t.strictSame(woken, ['s'])
  t.strictSame(reads, [0, 4])
})

t.test('messages present when a person ended the session do not resume it, later ones do [W8]', async t => {
  const { look, written, woken } = asleep()
  written.push(5)
  await look(7, 7)
  t.strictSame(woken, [])
  written.push(8)
  await look(8, 7)
  t.strictSame(woken, ['s'])
})

t.test(
  'a failing agent is started a few times with longer pauses, then the session says why; the next message starts over [W8]',
  async t => {
    const { look, written, woken, told, clock } = asleep({ fails: true })
    written.push(3)
    await look(3)
    await look(3)
    t.equal(woken.length, 1, 'not before the pause is over')
    for (const ms of pausesMs.slice(1)) {
      clock.advance(ms)
      await look(3)
    }
    t.equal(woken.length, pausesMs.length)
    clock.advance(3_600_000)
    await look(3)
    await look(3)
    t.equal(woken.length, pausesMs.length, 'it is not started for ever')
    t.strictSame(told, ['The command gone was not found.'], 'told once')
    // What was told is a message too.
    t.equal(await look(4), undefined, 'nothing more to do')
    t.equal(woken.length, pausesMs.length)
    written.push(5)
    await look(5)
    t.equal(woken.length, pausesMs.length + 1)
  }
)

t.test('a session is resumed for the reason of a no alone, but not forever [W8]', async t => {
  const { look, written, woken, told, clock } = asleep()
  await look(4, 4, 'first')
  t.strictSame(woken, ['s'])
  for (const ms of [...pausesMs.slice(1), 3_600_000]) {
    clock.advance(ms)
    await look(4, 4, 'first')
  }
  t.equal(woken.length, pausesMs.length)
  t.equal(told.length, 1)
  await look(4, 4, 'second')
  t.equal(woken.length, pausesMs.length + 1, 'another one lets it begin anew')
  written.push(5)
  await look(5, 4, 'second')
  t.equal(woken.length, pausesMs.length + 2, 'and so does a message')
  await look(6, 5)
  clock.advance(3_600_000)
  t.equal(await look(6, 5), undefined, 'its agent has both now')
})

t.test('a session that ended by itself before reading the message counts as a failure, one that read it does not', async t => {
  const { look, written, woken, clock } = asleep()
  written.push(3)
  await look(3)
  clock.advance(pausesMs[1])
  await look(9)
  t.equal(woken.length, 2, 'its agent ended without the message')
  await look(12, 3)
  clock.advance(3_600_000)
  await look(12, 3)
  t.equal(woken.length, 2, 'it has it now')
})

t.test('two thousand sessions with nothing waiting cost no reads and no writes', async t => {
  const notes = new Map<string, WakeNotes>()
  let saved = 0
  const read: string[] = []
  const waking = createWaker({
    notes,
    save: () => void saved++,
    async lastUnread(id) {
      read.push(id)
      return undefined
    },
    wake: async () => void t.fail('nobody spoke'),
    tellFailed: async () => void t.fail('nothing failed')
  })
  const sleepers = Array.from({ length: 2_000 }, (_, n) => ({ id: `s${n}`, settledUpTo: 0, seq: 3 }))
  await waking.look(sleepers)
  t.equal(read.length, 2_000)
  const [noted] = notes.values()
  await waking.look(sleepers)
  t.equal(read.length, 2_000)
  t.equal(saved, 1)
  const [same] = notes.values()
  t.equal(same, noted)
})
