import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { endOfTranscript, openTranscript, sizeOf } from '../../../../../lib/wrapper/agents/claude/transcript/transcript.ts'

const hour = 3_600_000

t.test('messages after the clock was set back are sent [C2]', t => {
  const { transcript, clock, say, told } = reader(t)
  transcript.follow(say('one.jsonl'), 0)
  clock.set({ at: -hour, elapsedMs: 60_000 })
  say('one.jsonl', 'said in this file', -hour)
  transcript.read()
  t.strictSame(told, ['said in this file'])
  t.end()
})

t.test('after switching to a conversation its past is not sent, even if the clock was set back meanwhile [C2]', t => {
  const { transcript, clock, say, told } = reader(t)
  transcript.follow(say('one.jsonl'), 0)
  clock.set({ at: -hour, elapsedMs: 60_000 })
  say('two.jsonl', 'long ago', -2 * hour)
  transcript.follow(say('two.jsonl', 'just now', -hour))
  clock.set({ at: 120_000, elapsedMs: 120_000 })
  say('two.jsonl', 'after it was put right', 110_000)
  transcript.read()
  t.strictSame(told, ['just now', 'after it was put right'])
  t.end()
})

t.test('earlier content of its file is not sent', t => {
  const { transcript, say, told } = reader(t)
  const file = say('one.jsonl', 'before', 0)
  transcript.follow(file, sizeOf(file))
  say('one.jsonl', 'after', 0)
  transcript.read()
  t.strictSame(told, ['after'])
  t.end()
})

t.test('if the folder of a conversation is gone its end is unknown, and nothing fails', t => {
  t.equal(endOfTranscript({ HOME: t.testdir() }, join(t.testdirName, 'gone'), 'c'), undefined)
  t.end()
})

t.test('a line is sent once, also from a copy of its file', t => {
  const { transcript, say, told, folder } = reader(t)
  const file = say('one.jsonl', 'said once')
  transcript.follow(file, 0)
  copyFileSync(file, join(folder, 'two.jsonl'))
  transcript.follow(say('two.jsonl', 'said later'), 0)
  t.strictSame(told, ['said once', 'said later'])
  t.end()
})

t.test('only the last lines are remembered', t => {
  const { transcript, told, folder } = reader(t)
  const follow = (name: string, from: number, to: number) => {
    const rows = Array.from({ length: to - from + 1 }, (_, index) => {
      const message = { content: String(from + index) }
      return `${JSON.stringify({ type: 'assistant', uuid: `row-${from + index}`, message })}\n`
    })
    writeFileSync(join(folder, name), rows.join(''))
    told.length = 0
    transcript.follow(join(folder, name), 0)
    return told.length
  }
  t.equal(follow('one.jsonl', 1, 20_000), 20_000)
  t.equal(follow('two.jsonl', 1, 1), 0)
  t.equal(follow('three.jsonl', 20_001, 20_001), 1)
  t.equal(follow('four.jsonl', 2, 2), 0)
  t.equal(follow('five.jsonl', 1, 1), 1, 'the oldest was forgotten')
  t.end()
})

/** One that began at a moment from which all other times are counted. */
function reader(t: Test) {
  const began = Date.parse('2026-03-01T12:00:00Z')
  const folder = t.testdir()
  let time = { at: 0, elapsedMs: 0 }
  const told: string[] = []
  const transcript = openTranscript({
    clock: { now: () => began + time.at, elapsedMs: () => time.elapsedMs },
    onRow: row => row.type === 'block' && row.block.type === 'text' && told.push(row.block.text),
    onRead() {}
  })
  t.teardown(() => transcript.close())
  let count = 0
  return {
    transcript,
    folder,
    told,
    clock: {
      set(now: typeof time) {
        time = now
      }
    },
    say(name: string, text?: string, at = 0): string {
      const file = join(folder, name)
      const message = { content: [{ type: 'text', text }] }
      const row = { type: 'assistant', uuid: `row-${++count}`, timestamp: new Date(began + at).toISOString(), message }
      appendFileSync(file, text === undefined ? '' : `${JSON.stringify(row)}\n`)
      return file
    }
  }
}
