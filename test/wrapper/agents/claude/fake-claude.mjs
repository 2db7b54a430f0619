#!/usr/bin/env node
// Claude Code as far as a wrapper sees it: its flags, its keys, its hooks, the rows it writes down, and a screen that shows
// where it stands. FAKE_LAG_MS delays the rows, FAKE_TAKES_MS what it does with a prompt that begins with `late`, FAKE_REFUSES makes it one that does not know our flags, FAKE_LACKS one that
// calls no hooks or writes nothing down where it says.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openConversation, runTurn } from './conversation.mjs'
import { answerQuestions, asCommand, isPrompt, marked, runHere, unmarked } from './fake-commands.mjs'

if (process.argv.includes('--version')) {
  console.log(`${process.env.FAKE_VERSION ?? '2.1.329'} (Claude Code)`)
  process.exit(0)
}
if (process.argv.includes('-p')) {
  await answerQuestions()
  process.exit(0)
}
if (process.env.FAKE_REFUSES) {
  console.error("error: unknown option '--settings'")
  process.exit(1)
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    settings: { type: 'string' },
    'session-id': { type: 'string' },
    resume: { type: 'string' },
    'permission-mode': { type: 'string' }
  }
})
const { hooks, companyAnnouncements } = JSON.parse(readFileSync(values.settings, 'utf8'))
const lagMs = Number(process.env.FAKE_LAG_MS ?? 0)
const statusFile = join(process.env.CLAUDE_CONFIG_DIR, 'sessions', `${process.pid}.json`)
let mode = values['permission-mode'] ?? 'auto'
let conversation = openConversation(values.resume ?? values['session-id'] ?? randomUUID(), 'cli', lagMs)
let input = ''
let stashed = ''
let turn
let dialog
const queue = []

if (values.resume && !conversation.exists()) {
  console.error(`No conversation found with session ID: ${values.resume}`)
  process.exit(1)
}

const print = text => process.stdout.write(`${text}\r\n`)
const status = now => {
  mkdirSync(dirname(statusFile), { recursive: true })
  writeFileSync(statusFile, JSON.stringify({ pid: process.pid, sessionId: conversation.id, status: now }))
}
const drawInput = () => process.stdout.write(`\r\x1b[K\u276f ${input.replaceAll('\n', '\u23ce').slice(0, 60)}`)

async function hook(name, more = {}, signal) {
  const [
    {
      hooks: [to]
    } = { hooks: [] }
  ] = hooks[name] ?? []
  if (!to || process.env.FAKE_LACKS === 'hooks') return {}
  const body = {
    hook_event_name: name,
    session_id: conversation.id,
    transcript_path: conversation.file,
    cwd: process.cwd(),
    permission_mode: mode,
    ...more
  }
  try {
    const reply = await fetch(to.url, { method: 'POST', headers: to.headers, body: JSON.stringify(body), signal })
    if (!reply.ok) throw new Error(`status ${reply.status}`)
    return await reply.json()
  } catch (error) {
    if (!signal?.aborted) print(`hook failed: ${error.message}`)
    return {}
  }
}

class Interrupted extends Error {}
/** Before the first word: nothing is written down. */
class Withdrawn extends Interrupted {}

async function silence() {
  while (!turn.isCut) await pause(20)
  throw new Withdrawn('')
}

async function say(text, { overMs = 0, reason }) {
  const words = text.match(/\s*\S+\s*/g) ?? [text]
  const message_id = randomUUID()
  const shown = []
  let said = ''
  if (overMs > 0) await takeQueued()
  for (const word of words) {
    if (overMs > 0) await pause(overMs / words.length)
    if (turn.isCut) {
      if (said) conversation.assistant({ type: 'text', text: said }, null)
      throw new Interrupted('')
    }
    said += word
    if (overMs > 0) shown.push(hook('MessageDisplay', { message_id, index: shown.length, final: said === text, delta: word }))
  }
  await Promise.all(shown)
  print(`\u25cf ${text.slice(0, 200)}`)
  conversation.assistant({ type: 'text', text }, reason)
}

/** What is said meanwhile is taken into the turn: it is no row of its own. */
async function takeQueued() {
  for (const prompt of queue.splice(0)) {
    await hook('UserPromptSubmit', { prompt })
    const attachment = { type: 'queued_command', prompt, commandMode: 'prompt', origin: { kind: 'human' } }
    conversation.note({ type: 'attachment', uuid: randomUUID(), attachment })
    print(`> ${prompt.slice(0, 200)}`)
  }
}

async function write(name, content) {
  const file = resolve(name)
  const tool = { tool_name: 'Write', tool_input: { file_path: file, content }, tool_use_id: `toolu_${randomUUID()}` }
  conversation.assistant({ type: 'tool_use', id: tool.tool_use_id, name: 'Write', input: tool.tool_input }, 'tool_use')
  await hook('PreToolUse', tool)
  const { isYes, says } = mode === 'acceptEdits' ? { isYes: true } : await ask(tool, file)
  if (isYes) {
    writeFileSync(file, content)
    await hook('PostToolUse', tool)
  }
  const text = isYes ? `File created successfully at: ${file}` : (says ?? "The user doesn't want to proceed with this tool use.")
  conversation.user([{ type: 'tool_result', tool_use_id: tool.tool_use_id, content: text, is_error: !isYes }])
  if (turn.isCut) throw new Interrupted(' for tool use')
  return isYes
}

/** The dialog is open while the hook waits; who is faster counts. The hook is not told when the terminal was. */
async function ask({ tool_name, tool_input }, file) {
  const suggestions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
  print(`Do you want to create ${basename(file)}? 1. Yes  2. No`)
  status('waiting')
  const here = new Promise(settle => (dialog = key => settle({ isYes: key !== '\x1b' && key !== '2', says: undefined })))
  const there = hook('PermissionRequest', { tool_name, tool_input, permission_suggestions: suggestions }).then(({ hookSpecificOutput }) => {
    const { behavior, message, updatedPermissions } = hookSpecificOutput?.decision ?? {}
    if (behavior === undefined) return here
    for (const update of updatedPermissions ?? []) if (update.type === 'setMode') setMode(update.mode)
    return { isYes: behavior === 'allow', says: message }
  })
  const answer = await Promise.race([here, there])
  dialog = undefined
  status('busy')
  print('(the dialog is closed)')
  return answer
}

function setMode(next) {
  mode = next
  conversation.note({ type: 'permission-mode', permissionMode: next })
}

async function take(prompt) {
  turn = { isCut: false }
  status('busy')
  print(`> ${prompt.slice(0, 200)}`)
  if (prompt.trim().startsWith('late ')) await pause(Number(process.env.FAKE_TAKES_MS ?? 0))
  // The hook comes before the row, as with the real one.
  await hook('UserPromptSubmit', { prompt })
  conversation.user(isPrompt(prompt) ? asCommand(prompt) : prompt)
  try {
    const last = await runTurn(unmarked(prompt), { say, write, silence })
    await hook('Stop', { last_assistant_message: last })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    if (!(error instanceof Withdrawn)) conversation.user([{ type: 'text', text: `[Request interrupted by user${error.message}]` }])
    print('Interrupted')
  }
  turn = undefined
  status('idle')
  drawInput()
  const next = queue.shift()
  if (next !== undefined) await take(next)
}

async function submit(text) {
  input = stashed
  stashed = ''
  switch (text) {
    case '':
      return
    case '/exit':
      return leave(0)
    case '/clear':
      await hook('SessionEnd', { reason: 'clear' })
      conversation = openConversation(randomUUID(), 'cli', lagMs)
      print('cleared')
      return drawInput()
    case '/menu':
      print('Choose: 1. this  2. that')
      status('waiting')
      dialog = key => {
        dialog = undefined
        status('idle')
        print(`chosen with ${JSON.stringify(key)}`)
        drawInput()
      }
      return
    case '/name':
      // As the real one does: its own comes again after the person's.
      for (const title of [
        { type: 'ai-title', aiTitle: 'Guess' },
        { type: 'custom-title', customTitle: 'Chosen' },
        { type: 'ai-title', aiTitle: 'Guess' }
      ])
        conversation.note(title)
      return drawInput()
    case '/crash':
      return process.kill(process.pid, 'SIGKILL')
  }
  if (runHere(text, conversation)) {
    print(`ran ${text}`)
    return drawInput()
  }
  if (turn) queue.push(text)
  else await take(text)
}

async function leave(code) {
  await hook('SessionEnd', { reason: 'other' })
  await conversation.written()
  rmSync(statusFile, { force: true })
  process.stdout.write(`\r\n\x1b[?2004l\x1b[?25hResume this session with: claude --resume ${conversation.id}\r\n`)
  process.exit(code)
}

function press(key) {
  if (dialog) {
    if (key === '\x1b' && turn) turn.isCut = true
    return dialog(key)
  }
  switch (key) {
    case '\r':
      return void submit(input)
    case '\x13':
      stashed = input
      input = ''
      break
    case '\x1b':
      if (turn) turn.isCut = true
      break
    case '\x7f':
      input = input.slice(0, -1)
      break
    default:
      input += key
  }
  drawInput()
}

let unread = ''
process.stdin.setRawMode?.(true)
process.stdin.setEncoding('utf8').on('data', text => {
  unread += text
  while (unread !== '') {
    if (unread.startsWith('\x1b[200~')) {
      const end = unread.indexOf('\x1b[201~')
      if (end < 0) return
      const text = unread.slice(6, end).replaceAll('\r', '\n')
      unread = unread.slice(end + 6)
      if (dialog) press(text)
      else input += marked(text)
      drawInput()
    } else if (unread.startsWith('\x1b[Z')) {
      unread = unread.slice(3)
      mode = mode === 'default' ? 'acceptEdits' : 'default'
      print(`mode ${mode}`)
    } else if (unread.startsWith('\x1b[')) {
      if (unread.length < 6) return
      unread = unread.slice(unread.search(/[A-Za-z~]/) + 1)
    } else {
      const [key] = unread
      unread = unread.slice(key.length)
      press(key)
    }
  }
})
process.on('SIGTERM', () => void leave(143))
process.on('SIGHUP', () => process.exit(129))
process.stdout.on('resize', () => print(`now ${process.stdout.columns} columns`))

print(`Fake Claude Code, mode ${mode}, ${process.stdout.columns} columns, tty ${process.stdin.isTTY === true}`)
print(`\u258e ${companyAnnouncements.join()}`)
for (const { type, message } of conversation.history()) {
  const text = typeof message.content === 'string' ? message.content : (message.content[0]?.text ?? '')
  if (text) print(`${type === 'user' ? '>' : '\u25cf'} ${text.slice(0, 200)}`)
}
const last = conversation.history().at(-1)
if (last && last.type === 'user')
  conversation.assistant({ type: 'text', text: 'No response requested.' }, 'end_turn', { model: '<synthetic>' })
process.stdout.write('\x1b[?2004h')
status('idle')
drawInput()
if (positionals.length > 0) void take(positionals.join(' '))
if (!existsSync(values.settings)) print('the settings are gone')
