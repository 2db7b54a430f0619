import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { lockDirectory } from '../../../sqlite/file/lock.ts'

t.test('the lock of a killed server is free at once [F6]', async t => {
  const directory = t.testdir()
  const holder = spawn(process.execPath, [fileURLToPath(new URL('../../kit/hold-lock.ts', import.meta.url)), directory])
  t.teardown(() => holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  t.throws(() => lockDirectory(directory), CannotStart)

  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = lockDirectory(directory)
  t.throws(() => lockDirectory(directory), { message: new RegExp(directory) })
  lock.free()
  lockDirectory(directory).free()
})
