import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import {
  configFolder,
  endOfTranscript,
  hasTranscript,
  newLines,
  openTranscript,
  sizeOf,
  transcriptFile
} from '../../../../../lib/wrapper/agents/claude/transcript/transcript.ts'

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

t.test('complete lines are read from a position on; one still being written is read when it is complete', async t => {
  const file = join(t.testdir(), 'one.jsonl')
  t.strictSame(newLines({ file, offset: 0 }), { lines: [], next: { file, offset: 0 } }, 'there is no file')
  writeFileSync(file, 'first\nsécond\nthi')
  const { lines, next } = newLines({ file, offset: 6 })
  t.strictSame([lines, next], [['sécond'], { file, offset: 14 }])
  t.strictSame(newLines(next), { lines: [], next })
  appendFileSync(file, 'rd\n\n')
  t.strictSame(newLines(next), { lines: ['third', ''], next: { file, offset: 21 } })
  t.strictSame(newLines({ file, offset: 500 }), { lines: [], next: { file, offset: 500 } }, 'it became shorter')
})

t.test('a file is closed after each reading', { skip: !existsSync('/proc/self/fd') && 'open files are not known here' }, async t => {
  const file = join(t.testdir(), 'one.jsonl')
  writeFileSync(file, 'first\n')
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let times = 0; times < 20; times++) newLines({ file, offset: 0 })
  t.equal(open(), before)
})

t.test('a conversation is known by its file, in the folder of any project', async t => {
  const home = t.testdir({ code: {} })
  const env = { HOME: home }
  const directory = join(home, 'code')
  t.equal(hasTranscript(env, 'one'), false, 'there is no folder')
  const file = transcriptFile(env, realpathSync(directory), 'one')
  t.equal(file, join(home, '.claude/projects', realpathSync(directory).replace(/[^a-zA-Z0-9]/g, '-'), 'one.jsonl'))
  t.strictSame(endOfTranscript(env, directory, 'one'), { file, offset: 0 })
  mkdirSync(dirname(file), { recursive: true })
  t.equal(hasTranscript(env, 'one'), false)
  writeFileSync(file, 'first\n')
  t.strictSame([hasTranscript(env, 'one'), hasTranscript(env, 'two')], [true, false])
  t.strictSame(endOfTranscript(env, directory, 'one'), { file, offset: 6 })
})

t.test('Claude Code stores its data where its environment says', async t => {
  t.equal(configFolder({ CLAUDE_CONFIG_DIR: '/c', HOME: '/h', USERPROFILE: '/u' }), '/c')
  t.equal(configFolder({ HOME: '/h', USERPROFILE: '/u' }), join('/h', '.claude'))
  t.equal(configFolder({ USERPROFILE: '/u' }), join('/u', '.claude'))
  t.equal(configFolder({}), '.claude')
})

t.test('a command is read once, and a title each time', async t => {
  const { transcript, rows, folder } = reader(t)
  const lines = [
    { type: 'user', uuid: 'u', message: { content: '<command-name>/mine</command-name>' } },
    { type: 'ai-title', aiTitle: 'Tea' }
  ]
  const content = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  for (const name of ['one.jsonl', 'two.jsonl']) {
    writeFileSync(join(folder, name), content)
    transcript.follow(join(folder, name), 0)
  }
  t.strictSame(rows, ['command', 'title', 'title'])
})

t.test('each position is told once everything before it was', async t => {
  const { transcript, say, read, folder } = reader(t)
  const file = say('one.jsonl', 'first')
  transcript.follow(file, 0)
  transcript.follow(file, 0)
  transcript.read()
  const end = sizeOf(file)
  t.strictSame(read, [`${file} 0 after 0`, `${file} ${end} after 1`])
  say('one.jsonl', 'second')
  transcript.follow(join(folder, 'two.jsonl'))
  t.strictSame(read.slice(2), [`${file} ${sizeOf(file)} after 2`, `${join(folder, 'two.jsonl')} 0 after 2`], 'its rest first')
})

t.test('it is read until something is so, at most for a time; and by itself', async t => {
  const { transcript, say, told } = reader(t)
  transcript.follow(say('one.jsonl'), 0)
  let looks = 0
  await transcript.readUntil(() => {
    if (++looks === 2) say('one.jsonl', 'awaited')
    return told.length > 0
  }, 60_000)
  t.strictSame([told, looks], [['awaited'], 3])
  await transcript.readUntil(() => false, 0)
  say('one.jsonl', 'more')
  while (told.length < 2) await new Promise(resolve => setImmediate(resolve))
  t.strictSame(told, ['awaited', 'more'])
})

/** One that began at a moment from which all other times are counted. */
function reader(t: Test) {
  const began = Date.parse('2026-03-01T12:00:00Z')
  const folder = t.testdir()
  let time = { at: 0, elapsedMs: 0 }
  const told: string[] = []
  const rows: string[] = []
  const read: string[] = []
  const transcript = openTranscript({
    clock: { now: () => began + time.at, elapsedMs: () => time.elapsedMs },
    onRow(row) {
      rows.push(row.type)
      if (row.type === 'block' && row.block.type === 'text') told.push(row.block.text)
    },
    onRead: ({ file, offset }) => read.push(`${file} ${offset} after ${told.length}`)
  })
  t.teardown(() => transcript.close())
  let count = 0
  return {
    transcript,
    folder,
    told,
    rows,
    read,
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
