import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { publishedProgram } from '../kit/needs.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { startFakeOpenAi } from './fake-openai-model.ts'

/**
 * A computer on which a real opencode is, with a model on loopback. The model writes files, says `<line> 1` to
 * `<line> <n>` for `many <n> <line>`, and else repeats what it is told.
 */
export async function computerWithRealOpencode(t: Pick<Test, 'teardown'>, server: { url: string }) {
  const opencode = publishedProgram('opencode')
  const { phone, home } = await linkedComputer(t, server)
  const directory = join(home, '..', 'code')
  mkdirSync(directory)
  const model = await startFakeOpenAi(t, (prompt, results) => {
    const file = /write (\S+)/.exec(prompt)?.[1]
    const [, count, line] = /^many (\d+) (.*)/.exec(prompt.trim()) ?? []
    if (count) {
      const text = { type: 'text' as const, text: `${line} ${results + 1}`, everyMs: 60 }
      return results + 1 < Number(count) ? [text, { type: 'call', name: 'glob', input: { pattern: '*.none' } }] : [text]
    }
    if (results > 0) return [{ type: 'text', text: 'all done' }]
    if (/slowly/.test(prompt)) return [{ type: 'text', text: 'one '.repeat(400), everyMs: 50 }]
    if (/plan it/.test(prompt)) {
      const todos = [{ content: 'first', status: 'in_progress', priority: 'high', id: '1' }]
      return [{ type: 'call', name: 'todowrite', input: { todos } }]
    }
    if (/ask me/.test(prompt)) {
      const options = ['red', 'blue'].map(label => ({ label, description: `it is ${label}` }))
      return [{ type: 'call', name: 'question', input: { questions: [{ question: 'Which colour?', header: 'Colour', options }] } }]
    }
    if (file === undefined) return [{ type: 'text', text: `you said: ${prompt.trim()}` }]
    return [
      { type: 'thinking', text: 'a file, then' },
      { type: 'text', text: `I will write ${file}.` },
      { type: 'call', name: 'write', input: { filePath: join(directory, file), content: 'from the model\n' } }
    ]
  })
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Fake',
    options: { baseURL: model, apiKey: 'none' },
    models: { m: { name: 'Fake M', limit: { context: 100_000, output: 8000 } } }
  }
  writeFileSync(
    join(directory, 'opencode.json'),
    JSON.stringify({ provider: { fake: provider }, enabled_providers: ['fake'], model: 'fake/m' })
  )
  const env = {
    OPENCODE_BIN_PATH: opencode,
    HOME: join(home, '..'),
    XDG_CONFIG_HOME: '',
    XDG_DATA_HOME: '',
    XDG_STATE_HOME: '',
    XDG_CACHE_HOME: '',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1'
  }
  const sitDown = (args = ['opencode']) => runOnTerminal(t, { home, directory, args, env })
  /** What opencode itself has, in order. */
  const written = (conversation: string): string[] => {
    const out = execFileSync(opencode, ['export', conversation], { cwd: directory, env: { ...process.env, ...env } })
    const kept: Export = JSON.parse(out.toString())
    return kept.messages.flatMap(({ info, parts }) =>
      parts.flatMap(({ type, text }) => (type === 'text' && text ? `${info.role}: ${text}` : []))
    )
  }
  return { phone, home, directory, sitDown, written }
}

interface Export {
  messages: { info: { role: string }; parts: { type: string; text?: string }[] }[]
}
