import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port that a later server can reuse. Not one chosen by the system: those are opened without the option to
 * reuse them, and could be assigned to another program meanwhile.
 */
export async function portToKeep(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000)
    const probe = createServer()
    const isFree = await new Promise<boolean>(resolve => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
