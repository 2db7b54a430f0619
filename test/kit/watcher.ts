import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Runs a script of `sh` when told to, and also when this process is gone before that, as a runner does with a test that takes
 * too long: a program that outlives its test would never be ended. The script finds `values` in `$0`, `$1` and so on.
 */
export function runAtEnd(script: string, values: readonly string[], user: { uid?: number; gid?: number } = {}): { run(): Promise<void> } {
  const { PATH } = process.env
  // Its input ends with this process, however that ends; what ends the group of this process does not end it.
  const child = spawn('sh', ['-c', `cat > /dev/null\n${script}`, ...values], {
    ...user,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: { PATH }
  })
  const ended = once(child, 'exit')
  // Neither keeps a test file from its end.
  child.unref()
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return {
    async run() {
      child.ref()
      child.stdin.end()
      await ended
    }
  }
}
