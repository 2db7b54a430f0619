import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startProcess, withoutTraces } from '../../../lib/wrapper/agents/process.ts'

t.test("of a program's last output, stack traces are removed and sentences stay", t => {
  const cases: [wrote: string, shown: string][] = [
    [
      [
        'claude auth status failed: Command failed: /bin/false auth status --json',
        '',
        '[session/create] sessionId=9b9d2459-ce76 phase=settings durationMs=4 totalMs=5',
        '[session/query] sessionId=9b9d2459-ce76 resume=none apiType=native baseUrl=native'
      ].join('\n'),
      'claude auth status failed: Command failed: /bin/false auth status --json'
    ],
    ['[session/new] The key was refused', 'The key was refused'],
    [
      [
        '/srv/agent/index.js:12',
        "    throw new Error('no key')",
        '    ^',
        '',
        'Error: no key',
        '    at open (/srv/agent/index.js:12:11)',
        '    at async Promise.all (index 0)',
        '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5) {',
        "  code: 'E_KEY'",
        '}',
        '',
        'Node.js v24.1.0'
      ].join('\n'),
      "Error: no key\n  code: 'E_KEY'\n}"
    ],
    ['look at the manual: https://example.org:3000', 'look at the manual: https://example.org:3000'],
    ['', '']
  ]
  for (const [wrote, shown] of cases) t.equal(withoutTraces(wrote), shown)
  t.end()
})

const isShell = { skip: process.platform === 'win32' && 'the programs are shell scripts' }

t.test('why a program did not start is a sentence', isShell, async t => {
  const directory = t.testdir()
  const file = join(directory, 'notes')
  writeFileSync(file, 'no program', { mode: 0o600 })
  const start = (command: string, at = directory) => startProcess({ command, args: [], directory: at, env: {} })
  await t.rejects(start('/bin/sh', join(directory, 'gone')), { message: `The folder ${join(directory, 'gone')} does not exist.` })
  await t.rejects(start('/bin/sh', file), { message: `The folder ${file} does not exist.` })
  await t.rejects(start(join(directory, 'missing')), {
    message: 'The command missing was not found. Is it installed, and is its folder in PATH?'
  })
  await t.rejects(start(file), { message: `${file} cannot be run: this user may not execute it.` })
})

t.test('how a program ended is said, with its last lines', isShell, async t => {
  const failed = await shell(t, 'echo first >&2; echo "[a/b] last" >&2; exit 3')
  t.equal(await failed.ended, 'exit code 3')
  t.equal(failed.lastLines(), 'first\nlast')
  t.equal(await (await shell(t, 'kill -KILL $$')).ended, 'killed by SIGKILL')
  const long = await shell(t, `printf '%08200d end' 0 >&2`)
  await long.ended
  t.equal(long.lastLines().length, 8 * 1024)
  t.match(long.lastLines(), / end$/)
})

t.test('a program hears us in its folder, with no variables but its own, and ends with its input', isShell, async t => {
  const child = await shell(t, 'pwd -P; echo "$OWN,$HOME"; cat', { OWN: 'yes' })
  const writer = child.input.getWriter()
  await writer.write(Buffer.from('hello'))
  const said = textOf(child.output)
  await child.end()
  t.equal(await child.ended, 'exit code 0')
  t.match(await said, /\nyes,\nhello$/)
  await child.end()
})

t.test('a program that stays when its input ends is ended, and killed if it still stays', isShell, async t => {
  const stays = await shell(t, 'echo; exec sleep 1000')
  await stays.output.getReader().read()
  await stays.end(0)
  t.match(await stays.ended, /^killed by SIG(TERM|KILL)$/)
  const ignores = await shell(t, 'trap "" TERM; echo; while :; do sleep 1; done')
  await ignores.output.getReader().read()
  await ignores.end(10)
  t.equal(await ignores.ended, 'killed by SIGKILL')
})

t.test('what a program started ends with it', isShell, async t => {
  const child = await shell(t, 'sleep 1000 & echo started')
  t.equal(await textOf(child.output), 'started\n', 'its output ends once nothing can write to it')
  t.equal(await child.ended, 'exit code 0')
})

t.test('a program never outlives the process that started it', isShell, async t => {
  const directory = t.testdir()
  const fifo = join(directory, 'held')
  execFileSync('mkfifo', [fifo])
  // It ends for its reader once no process holds it open for writing.
  const held = readFile(fifo, 'utf8')
  const source = `
    import { startProcess } from ${JSON.stringify(new URL('../../../lib/wrapper/agents/process.ts', import.meta.url).href)}
    const args = ['-c', 'exec 3>held; echo open >&3; echo; exec sleep 60']
    const child = await startProcess({ command: '/bin/sh', args, directory: ${JSON.stringify(directory)}, env: { PATH: '/usr/bin:/bin' } })
    await child.output.getReader().read()
    process.exit(0)
  `
  const file = join(directory, 'starts.ts')
  writeFileSync(file, source)
  execFileSync(process.execPath, [file])
  t.equal(await held, 'open\n')
})

function shell(t: Test, script: string, env: Record<string, string> = {}) {
  return startProcess({ command: '/bin/sh', args: ['-c', script], directory: t.testdir(), env: { PATH: '/usr/bin:/bin', ...env } })
}

function textOf(output: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(output).text()
}
