import { runAtEnd } from '../../kit/watcher.ts'

// `grep` finds them by what they were started with: one that did not note itself yet is found too.
const script = `
while pids=$(grep -lszxF "AFIELD_HOME=$0" /proc/[0-9]*/environ | cut -d/ -f3) && [ -n "$pids" ]; do
  kill -9 $pids 2> /dev/null
  sleep 0.05
done`

/**
 * Ends every process of a home when told to, and when this process is gone: what a daemon started outlives it, and nobody
 * else would end it. Linux only; elsewhere it does nothing.
 */
export function watchHome(home: string): { endAll(): Promise<void> } {
  if (process.platform !== 'linux') return { endAll: async () => {} }
  const { run } = runAtEnd(script, [home])
  return { endAll: run }
}
