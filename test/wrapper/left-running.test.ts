import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { isRunning } from '../kit/running.ts'

// A test that begins something in a home, and then does not come to its end.
const begin = `
  import { spawn } from 'node:child_process'
  const { watchHome } = await import(process.argv[1])
  watchHome(process.argv[2])
  const env = { ...process.env, AFIELD_HOME: process.argv[2] }
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore', env })
  console.log(left.pid)`

t.test(
  'processes started by a test in a home end with it, even if the test is killed',
  { skip: process.platform !== 'linux' && 'it looks into /proc' },
  async t => {
    const watchdog = resolve('test/wrapper/kit/watchdog.ts')
    const test = spawn(process.execPath, ['--input-type=module', '-e', begin, watchdog, t.testdir()], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [line] = await once(createInterface(test.stdout), 'line')
    const left = Number(line)
    t.teardown(() => isRunning(left) && process.kill(left, 'SIGKILL'))
    t.ok(isRunning(left))
    test.kill('SIGKILL')
    while (isRunning(left)) await pause(20)
    t.pass('it is gone')
  }
)
