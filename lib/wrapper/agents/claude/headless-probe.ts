import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import * as v from '../../../schema.ts'
import { hasGroups, signalGroup } from '../../home/processes.ts'
import type { AgentCommand } from '../agent.ts'

/** What Claude Code reports when run without a screen; at its own screen it reports none of it. */
export interface HeadlessProbe {
  /** Its commands, as listed by its adapter. None from a version that does not answer. */
  commands(): Promise<readonly AgentCommand[]>
  /**
   * Whether the text starts with a command: a `prompt` goes to the model, any `other` does something at the
   * terminal.
   */
  commandIn(text: string): Promise<'prompt' | 'other' | undefined>
  /** The context size of a model, by the id that Claude Code records. */
  windowOf(model: string): Promise<number | undefined>
}

interface ProbeOptions {
  claude: string
  directory: string
  env: Readonly<Record<string, string>>
  /** Later answers are ignored; 15 s by default. */
  withinMs?: number | undefined
}

/** Asks once, and once more for each model other than its initial one. */
export function createHeadlessProbe(options: ProbeOptions): HeadlessProbe {
  let first: Promise<Answer> | undefined
  const windows = new Map<string, Promise<number | undefined>>()
  const ask = () => (first ??= askClaude(options))
  const own = async () => (await ask()).commands.filter(({ name }) => !unlisted.has(name) && !/\s/.test(name))
  return {
    commands: async () => (await own()).map(({ name, description }) => ({ name, description })),
    async commandIn(text) {
      const [, name, rest = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? []
      const command = name === undefined ? undefined : (await own()).find(each => each.name === name)
      if (!command) return undefined
      if (text.length > longestCommand) return 'other'
      // It sets a goal, and works on it; its other effects happen at the terminal.
      if (command.name === 'goal') return /^(clear)?\s*$/.test(rest) ? 'other' : 'prompt'
      const { commands, skills } = await ask()
      // A version that marks none of its own does not say which are the person's.
      const isOwn = !command.builtin && commands.some(({ builtin }) => builtin)
      return isOwn || skills.has(command.name) ? 'prompt' : 'other'
    },
    async windowOf(model) {
      const known = await ask()
      if (known.model === model) return known.window
      const asked = windows.get(model) ?? askClaude(options, model).then(({ window }) => window)
      windows.set(model, asked)
      return asked
    }
  }
}

// Like the adapter.
const unlisted = new Set(['clear', 'cost', 'keybindings-help', 'login', 'logout', 'mcp', 'output-style:new', 'release-notes', 'todos'])
/** A longer text is a paste for its screen, and a paste is not a command. */
export const longestCommand = 500
const usuallyWithinMs = 15_000

interface Answer {
  commands: readonly v.InferOutput<typeof command>[]
  /** The commands that are prompts. */
  skills: ReadonlySet<string>
  model: string | undefined
  window: number | undefined
}

const command = v.looseObject({
  name: v.string(),
  description: v.fallback(v.optional(v.string()), undefined),
  builtin: v.fallback(v.optional(v.boolean()), undefined)
})
const reply = v.looseObject({
  type: v.literal('control_response'),
  response: v.looseObject({
    response: v.fallback(
      v.optional(
        v.looseObject({
          commands: v.fallback(v.optional(v.array(command)), undefined),
          model: v.fallback(v.optional(v.string()), undefined),
          rawMaxTokens: v.fallback(v.optional(v.pipe(v.number(), v.gtValue(0))), undefined),
          skills: v.fallback(v.optional(v.looseObject({ skillFrontmatter: v.array(v.looseObject({ name: v.string() })) })), undefined)
        })
      ),
      undefined
    )
  })
})

// It starts none of the person's hooks, and records nothing.
const quietly = [
  '--settings',
  '{"disableAllHooks":true}',
  '--strict-mcp-config',
  '--no-session-persistence',
  '--permission-mode',
  'default'
]
const questions = [
  { request_id: 'commands', request: { subtype: 'initialize', hooks: {} } },
  // In brief mode it answers by itself; in full it would ask its server.
  { request_id: 'window', request: { subtype: 'get_context_usage', detail: 'summary' } }
]

/** Always resolves: missing information must not stop anyone from working. */
function askClaude({ claude, directory, env, withinMs = usuallyWithinMs }: ProbeOptions, model?: string): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const answer = { commands: [], skills: new Set(), model: undefined, window: undefined } as Answer
  const spoken = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', ...quietly]
  const args = [...spoken, ...(model === undefined ? [] : ['--model', model])]
  const program = begin(claude, args, { cwd: directory, env })
  if (!program) return Promise.resolve(answer)
  const tooLate = setTimeout(() => {
    if (program.pid !== undefined) signalGroup(program.pid, 'SIGKILL')
    resolve(answer)
  }, withinMs)
  program.once('error', () => resolve(answer))
  program.once('close', () => {
    clearTimeout(tooLate)
    resolve(answer)
  })
  // One that ends at once accepts no request.
  program.stdin.on('error', () => {})
  for (const question of questions) program.stdin.write(`${JSON.stringify({ type: 'control_request', ...question })}\n`)
  let answers = 0
  createInterface({ input: program.stdout }).on('line', line => {
    const said = readReply(line)
    if (!said) return
    const { commands, model, rawMaxTokens, skills } = said
    if (commands) answer.commands = commands
    if (rawMaxTokens !== undefined) Object.assign(answer, { model, window: rawMaxTokens })
    if (skills) answer.skills = new Set(skills.skillFrontmatter.map(({ name }) => name))
    if (++answers === questions.length) program.stdin.end()
  })
  return promise
}

/** Undefined if the system rejects it at once. */
function begin(claude: string, args: readonly string[], at: { cwd: string; env: Readonly<Record<string, string>> }) {
  try {
    return spawn(claude, args, {
      cwd: at.cwd,
      env: { ...at.env },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: hasGroups,
      windowsHide: true
    })
  } catch {
    return undefined
  }
}

function readReply(line: string) {
  try {
    const { data } = v.safeParse(reply, JSON.parse(line))
    return data && (data.response.response ?? {})
  } catch {
    return undefined
  }
}
