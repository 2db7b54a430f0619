import { spawn } from 'node:child_process'
import { once } from 'node:events'

// `grep` finds them by what they were started with: one that did not note itself yet is found too.
const script = `
cat > /dev/null
while pids=$(grep -lszxF "AFIELD_HOME=$0" /proc/[0-9]*/environ | cut -d/ -f3) && [ -n "$pids" ]; do
  kill -9 $pids 2> /dev/null
  sleep 0.05
done`

/**
 * Ends every process of a home when told to, and also when this process is gone before that, as a runner does with a test that
 * takes too long: what a daemon started outlives it, and nobody else would end it. Linux only; elsewhere it does nothing.
 */
export function watchHome(home: string): { endAll(): Promise<void> } {
  if (process.platform !== 'linux') return { endAll: async () => {} }
  const { PATH } = process.env
  const child = spawn('sh', ['-c', script, home], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: { PATH } })
  const ended = once(child, 'exit')
  // Neither keeps a test file from its end.
  child.unref()
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return {
    async endAll() {
      child.ref()
      child.stdin.end()
      await ended
    }
  }
}
