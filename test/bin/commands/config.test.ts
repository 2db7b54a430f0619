import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { optionRows } from '../../../lib/options.ts'
import { here } from '../kit/here.ts'

function startConfig(t: Test, toml: string) {
  const folder = t.testdir()
  const config = join(folder, 'afield.toml')
  writeFileSync(config, toml, { mode: 0o600 })
  const data = join(folder, 'data')
  const run = (options: object, env: Record<string, string> = {}) => here(t, 'config', { data, ...options }, env)
  return { config, data, run }
}

t.test('each option is shown with its value and its source, as a table by default', async t => {
  const { config, data, run } = startConfig(t, 'port = 4100\nmetrics-token = "a-token-nobody-sees"\n')
  const { code, stdout, stderr } = await run({ config, signup: 'open' }, { AFIELD_LIMITS: 'off' })
  t.strictSame([code, stderr], [0, ''])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => line.trim().split(/ {2,}/))
  t.strictSame(lines[0], ['option', 'value', 'from'])
  t.strictSame(
    lines.slice(1).map(([flag]) => flag),
    optionRows().map(({ flag }) => flag)
  )
  for (const row of [
    ['port', '4100', config],
    ['data', data, '--data'],
    ['signup', 'open', '--signup'],
    ['limits', 'off', 'AFIELD_LIMITS'],
    ['metrics-token', '(hidden)', config],
    ['https', 'off', 'default'],
    ['public-url', 'default']
  ])
    t.strictSame(
      lines.find(([flag]) => flag === row[0]),
      row
    )
  t.equal((await run({ config, signup: 'open', action: 'show' }, { AFIELD_LIMITS: 'off' })).stdout, stdout)
})

t.test('the same as JSON, for programs', async t => {
  const { config, run } = startConfig(t, 'port = 4100\n')
  const { stdout } = await run({ config, json: true })
  const shown = JSON.parse(stdout)
  t.strictSame(shown['port'], { value: 4100, from: config })
  t.strictSame(shown['https'], { value: 'off', from: 'default' })
  t.strictSame(
    Object.keys(shown),
    optionRows().map(({ flag }) => flag)
  )
  t.match(stdout, /^\{\n {2}"/)
})

t.test('check says how many are set, and a check or a list warns of settings that are none and of open secrets', async t => {
  const { config, run } = startConfig(t, 'port = 4100\nmetrics-token = "a-token-nobody-sees"\n')
  const valid = (count: number, file = '') => `The options are valid. Set: ${count}${file}; the others have their defaults.\n`
  t.strictSame(await run({ action: 'check' }), { code: 0, stdout: valid(1), stderr: '' })
  t.strictSame(await run({ action: 'check', config }), { code: 0, stdout: valid(3, `, with those of ${config}`), stderr: '' })
  t.match((await run({ action: 'check' }, { AFIELD_PROT: '1' })).stderr, /AFIELD_PROT/)
  if (process.platform === 'win32') return
  chmodSync(config, 0o604)
  const open = `Others on this computer can read ${config}, which contains metrics-token. Run: chmod o-r,g-r ${config}\n`
  for (const action of ['check', 'show']) t.equal((await run({ action, config })).stderr, open, action)
})
