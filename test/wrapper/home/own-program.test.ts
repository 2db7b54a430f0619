import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'

/** What a person is told to type, and what that prints where they are. */
function told(cwd: string): { command: string; prints: string } {
  const source = resolve('lib/wrapper/home/own-program.ts')
  const print = `import { typed } from ${JSON.stringify(source)}; console.log(typed('--version'))`
  const command = execFileSync(process.execPath, ['--input-type=module', '-e', print], { cwd, encoding: 'utf8' }).trim()
  return { command, prints: execFileSync(command, { cwd, shell: true, encoding: 'utf8' }) }
}

t.test('a command that is printed works when it is pasted where the person is', async t => {
  t.match(told(resolve('.')), { command: 'node build.mjs start --version', prints: /\d+\.\d+\.\d+/ })
  t.match(told(t.testdir()), { command: `node ${resolve('build.mjs')} start --version`, prints: /\d+\.\d+\.\d+/ })
})
