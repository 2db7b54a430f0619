import { join } from 'node:path'
import type { Peer } from './peer.ts'

export function opencode(packages: string): Peer {
  const installed = join(packages, 'opencode-linux-x64')
  return {
    name: 'opencode',
    installed,
    healthPath: '/global/health',
    // Otherwise it waits for the internet first.
    serve: ({ port }) => ({
      words: [join(installed, 'bin/opencode'), 'serve', '--port', String(port)],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }
    }),
    converse: 'its server is the agent, without a link between them'
  }
}
