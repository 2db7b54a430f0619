// The commands of the fake Claude Code, and what it says of itself when it is asked without a screen.
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

const commands = [
  { name: 'mine', description: `Does\n  mine.\u202e ${'And more. '.repeat(90)}` },
  { name: 'tidy', builtin: true, description: 7 },
  ...['clear', 'compact', 'goal'].map(name => ({ name, builtin: true }))
]
const windows = { fake: 200_000, other: 50_000 }
const longestUnmarked = 1000

export async function answerQuestions() {
  if (process.env.FAKE_LACKS === 'answers') return
  const at = process.argv.indexOf('--model')
  const model = at < 0 ? 'fake' : process.argv[at + 1]
  for await (const line of createInterface({ input: process.stdin })) {
    const { request_id, request } = JSON.parse(line)
    const isPlain = process.env.FAKE_LACKS === 'marks'
    const response =
      request.subtype === 'initialize'
        ? { commands: isPlain ? [{ name: 'mine' }] : commands, models: [] }
        : { model, rawMaxTokens: windows[model], ...(!isPlain && { skills: { skillFrontmatter: [{ name: 'mine' }, { name: 'tidy' }] } }) }
    console.log(JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id, response } }))
  }
}

let goal = ''

/** Does what a command does by itself; true for one that begins no turn. */
export function runHere(text, conversation) {
  if (text === '/goal clear') conversation.goal({ met: true, sentinel: true, condition: goal })
  else if (text.startsWith('/goal ')) {
    goal = text.slice('/goal '.length)
    conversation.goal({ met: false, sentinel: true, condition: goal })
    return false
  } else if (text === '/compact') {
    conversation.user(asCommand(text))
    conversation.user('<local-command-stdout>Compacted</local-command-stdout>')
    conversation.note({ type: 'user', uuid: randomUUID(), isCompactSummary: true, message: { role: 'user', content: 'What was said' } })
  } else return false
  return true
}

/** Whether it begins with a command that begins a turn. */
export function isPrompt(text) {
  return /^\/(mine|tidy|goal)\b/.test(text)
}

/** As the real one writes a command down. */
export function asCommand(text) {
  const [, name, args = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  return `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`
}

/** As the real one marks what was pasted and is long. */
export function marked(text) {
  return text.length > longestUnmarked ? `\n\n<pasted_content id="ab12">\n${text}\n</pasted_content id="ab12">\n` : text
}

export function unmarked(text) {
  return text.replace(/\n?<\/?pasted_content id="ab12">\n?/g, '').trimStart()
}
