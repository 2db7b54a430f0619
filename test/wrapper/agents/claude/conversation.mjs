// What the fake Claude Code and its fake adapter have in common: the file in which a conversation is written down, and a
// model that does what its prompt says.
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export function transcriptOf(conversation) {
  const folder = process.cwd().replace(/[^a-zA-Z0-9]/g, '-')
  return join(process.env.CLAUDE_CONFIG_DIR, 'projects', folder, `${conversation}.jsonl`)
}

export function openConversation(conversation, entrypoint, lagMs = 0) {
  const file = process.env.FAKE_LACKS === 'transcript' ? `/nowhere/${conversation}.jsonl` : transcriptOf(conversation)
  let writing = Promise.resolve()
  const write = row => {
    const line = `${JSON.stringify({ timestamp: new Date().toISOString(), sessionId: conversation, entrypoint, ...row })}\n`
    const commit = () => {
      if (process.env.FAKE_LACKS === 'transcript') return
      mkdirSync(dirname(file), { recursive: true })
      appendFileSync(file, line)
    }
    if (lagMs === 0) commit()
    else {
      const later = pause(lagMs)
      writing = writing.then(() => later).then(commit)
    }
  }
  return {
    id: conversation,
    file,
    exists: () => existsSync(file),
    forget: () => rmSync(file, { force: true }),
    history() {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
      return lines.map(line => JSON.parse(line)).filter(({ type }) => type === 'user' || type === 'assistant')
    },
    user: content => write({ type: 'user', uuid: randomUUID(), message: { role: 'user', content } }),
    assistant: (block, stopReason, more = {}) =>
      write({
        type: 'assistant',
        uuid: randomUUID(),
        message: { id: `msg_${randomUUID()}`, role: 'assistant', model: 'fake', stop_reason: stopReason, content: [block], usage, ...more }
      }),
    goal: status => write({ type: 'attachment', uuid: randomUUID(), attachment: { type: 'goal_status', ...status } }),
    note: row => write(row),
    written: () => writing
  }
}

const usage = { input_tokens: 1000, output_tokens: 30, cache_read_input_tokens: 200, cache_creation_input_tokens: 4 }

/** Deeds of one turn. `tools` says, does and asks; each of them may throw when the turn is cut off. */
export async function runTurn(prompt, { say, write, silence }) {
  if (/^silent\b/.test(prompt.trim())) await silence()
  const { file, content = 'from the model\n', end = 'all done' } = writeOf(prompt) ?? {}
  if (file !== undefined) {
    await say(`I will write ${file}.`, { reason: 'tool_use' })
    const isDone = await write(file, content)
    await say(isDone ? end : 'as you like', { reason: 'end_turn' })
    return isDone ? end : 'as you like'
  }
  const [, ms, words] = /^slow (\d+) ([\s\S]*)$/.exec(prompt.trim()) ?? []
  if (words !== undefined) {
    await say(words, { overMs: Number(ms), reason: 'end_turn' })
    return words
  }
  const [, count, line] = /^many (\d+) (.*)$/s.exec(prompt.trim()) ?? []
  if (line !== undefined) {
    for (let n = 1; n < Number(count); n++) await say(`${line} ${n}`, { overMs: 8, reason: 'tool_use' })
    await say(`${line} ${count}`, { reason: 'end_turn' })
    return `${line} ${count}`
  }
  const answer = prompt.length > 200 ? `you said ${prompt.replace(/\s+/g, '').length} signs` : `you said: ${prompt.trim()}`
  await say(answer, { reason: 'end_turn' })
  return answer
}

function writeOf(prompt) {
  const [, json] = /^write (\{[\s\S]*\})$/.exec(prompt.trim()) ?? []
  if (json !== undefined) return JSON.parse(json)
  const [, file] = /^write (\S+)$/.exec(prompt.trim()) ?? []
  return file === undefined ? undefined : { file }
}
