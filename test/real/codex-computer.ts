import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { publishedProgram } from '../kit/needs.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { startFakeResponses } from './fake-responses.ts'

/**
 * A computer on which a real Codex is, with a model on loopback. The model writes files, runs commands, says
 * `<line> 1` to `<line> <n>` for `many <n> <line>`, and else repeats what it is told.
 */
export async function computerWithRealCodex(t: Pick<Test, 'teardown'>, server: { url: string }) {
  const { phone, home } = await linkedComputer(t, server)
  const folder = join(home, '..', 'code')
  mkdirSync(folder)
  const directory = realpathSync(folder)
  const model = await startFakeResponses(t, (prompt, hasToolResult) => {
    const [, file] = /^write (\S+)/.exec(prompt) ?? []
    const [, command] = /^run (.*)/.exec(prompt) ?? []
    const [, count, line] = /^many (\d+) (.*)/.exec(prompt) ?? []
    if (hasToolResult) return [{ type: 'text', text: 'all done' }]
    if (file) return [{ type: 'patch', patch: `*** Begin Patch\n*** Add File: ${file}\n+from the model\n*** End Patch\n` }]
    if (command) return [{ type: 'run', command }]
    if (count) return Array.from({ length: Number(count) }, (_, index) => ({ type: 'text', text: `${line} ${index + 1}`, everyMs: 60 }))
    if (/^slow/.test(prompt)) return [{ type: 'text', text: prompt, everyMs: 200 }]
    return [{ type: 'text', text: /Generate a/.test(prompt) ? 'A title' : `you said: ${prompt}` }]
  })
  const config = join(home, '..', 'codex')
  mkdirSync(config)
  writeFileSync(
    join(config, 'config.toml'),
    [
      'model = "gpt-6.1-sol"',
      'model_provider = "fake"',
      'check_for_update_on_startup = false',
      // A second model would answer: the wrapper has to say otherwise.
      'approvals_reviewer = "auto_review"',
      '[model_providers.fake]',
      'name = "fake"',
      `base_url = "${model}"`,
      'wire_api = "responses"',
      'env_key = "FAKE_KEY"',
      `[projects."${directory}"]`,
      'trust_level = "trusted"',
      ''
    ].join('\n')
  )
  const env = { CODEX_BIN: publishedProgram('codex'), CODEX_HOME: config, FAKE_KEY: 'x', HOME: home }
  const sitDown = (args: readonly string[] = ['codex']) => runOnTerminal(t, { home, directory, args, env })
  return { phone, home, directory, config, env, sitDown }
}
