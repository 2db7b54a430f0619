import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { inShells, readChildren, treeOf } from '../../../lib/wrapper/home/processes.ts'

const skip = process.platform === 'win32' && 'no shells of this kind'

t.test("of a process's children only those run in a shell are listed, under the names they were called by", { skip }, async t => {
  const waits = 'process.stdout.write("up"); setInterval(() => {}, 1000)'
  const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" -e '${waits}' watch; true`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true
  })
  const other = spawn(process.execPath, ['-e', waits], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => {
    process.kill(-(shell.pid ?? 0), 'SIGKILL')
    other.kill('SIGKILL')
  })
  await Promise.all([once(shell.stdout, 'data'), once(other.stdout, 'data')])
  const children = readChildren()
  const told = inShells(treeOf(process.pid, children), children)
  t.equal(told?.length, 1)
  t.match(told?.[0], / watch$/)
})
