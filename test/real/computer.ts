import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { claudeAdapterFolder, publishedProgram } from '../kit/needs.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { type Answer, startFakeModel } from './fake-model.ts'

/**
 * A computer on which a real Claude Code is, with a model on loopback; see claude.test.ts for the variables.
 * The model writes files, says `<line> 1` to `<line> <n>` for `many <n> <line>`, so many lines in so many answers word by word for
 * `slow <answers> <lines> <line>`, asks `one`, `many` or `several` for `ask <form>`, ends
 * `plan` with a plan, says nothing for `wait`, half a sentence for `half`, `cut` (and cuts the line, once) and `break off` (and says that it is overloaded, once), refuses
 * `fail <status> <n>` so many times, and else repeats what it is told.
 */
export async function computerWithRealClaude(t: Pick<Test, 'teardown'>, server: { url: string }, ownEnv: Record<string, string> = {}) {
  const program = publishedProgram('claude')
  const adapter = claudeAdapterFolder()
  const { phone, home } = await linkedComputer(t, server)
  if (adapter) symlinkSync(adapter, join(home, 'agents'))
  const directory = join(home, '..', 'code')
  mkdirSync(directory)
  const model = await startFakeModel(t, answerIn(directory))
  const key = `sk-ant-fake-${'0'.repeat(40)}`
  const config = join(home, 'claude')
  mkdirSync(config)
  const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  writeFileSync(
    join(config, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
      projects: { [directory]: known }
    })
  )
  const env = {
    CLAUDE_CODE_EXECUTABLE: program,
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CONFIG_DIR: config,
    HOME: home,
    IS_SANDBOX: '',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    ...ownEnv
  }
  const sitDown = (args: readonly string[] = ['claude', '--yes']) => runOnTerminal(t, { home, directory, args, env })
  return { phone, home, directory, config, sitDown }
}

function answerIn(directory: string): Answer {
  return (prompt, results, { heard, attempt, plan }) => {
    const [, count, line] = /^many (\d+) (.*)$/m.exec(prompt) ?? []
    if (count !== undefined) {
      const text = { type: 'text' as const, text: `${line} ${results + 1}` }
      return results + 1 < Number(count) ? [text, { type: 'tool_use', name: 'Glob', input: { pattern: '*.none' } }] : [text]
    }
    const [, answers, lines, name] = /^slow (\d+) (\d+) (.*)$/m.exec(prompt) ?? []
    if (answers !== undefined) {
      const said = Array.from({ length: Number(lines) }, (_, at) => `${name} ${results + 1}.${at + 1} said word by word`)
      const text = { type: 'text' as const, text: `${said.join('\n')}\n`, wordEveryMs: 15 }
      return results + 1 < Number(answers) ? [text, { type: 'tool_use', name: 'Glob', input: { pattern: '*.none' } }] : [text]
    }
    if (/^wait\b/m.test(prompt)) return 'silence'
    if (/^half\b/m.test(prompt)) return [{ type: 'text', text: 'this is half a' }, { type: 'pause' }]
    if (/^cut\b/m.test(prompt) && attempt === 1) return [{ type: 'text', text: 'this is half a' }, { type: 'cut' }]
    if (/^break off\b/m.test(prompt) && attempt === 1) return [{ type: 'text', text: 'this is half a' }, { type: 'overloaded' }]
    const [, status, times] = /^fail (\d+) (\d+)/m.exec(prompt) ?? []
    if (attempt <= Number(times ?? 0)) return { status: Number(status) }
    const form = forms[/^ask (\S+)/m.exec(prompt)?.[1] ?? '']
    if (form && results === 0) return [{ type: 'tool_use', name: 'AskUserQuestion', input: { questions: form } }]
    if (/^plan\b/m.test(prompt) && plan !== undefined) {
      if (results === 0) return [{ type: 'tool_use', name: 'Write', input: { file_path: plan, content: thePlan } }]
      if (results === 1) return [{ type: 'tool_use', name: 'ExitPlanMode', input: {} }]
    }
    if (results > 0 && /^(ask|plan)\b/m.test(prompt)) return [{ type: 'text', text: `heard: ${heard}` }]
    const file = /write (\S+)/.exec(prompt)?.[1]
    if (results > 0) return [{ type: 'text', text: 'all done' }]
    if (file === undefined) return [{ type: 'text', text: `you said: ${prompt.trim()}` }]
    return [
      { type: 'text', text: `I will write ${file}.` },
      { type: 'tool_use', name: 'Write', input: { file_path: join(directory, file), content: 'from the model\n' } }
    ]
  }
}

export const thePlan = '1. Draw a cat\n2. Draw a dog\n'

const color = {
  question: 'Which color?',
  header: 'Color',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'A warm one' },
    { label: 'Blue', description: 'A cold one' }
  ]
}
const animals = {
  question: 'Which animals?',
  header: 'Animals',
  multiSelect: true,
  options: [
    { label: 'Cat', description: 'It sleeps' },
    { label: 'Dog, large', description: 'It runs' },
    { label: 'Owl', description: 'It flies' }
  ]
}
const forms: Readonly<Record<string, object[]>> = { one: [color], many: [animals], several: [color, animals] }
