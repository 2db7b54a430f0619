import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the load goes, and as whom. */
export interface Target {
  port: number
  token: string
  session: string
}

export interface Child {
  target: Target
  /** Processor time the child has used so far, user and system, in microseconds. */
  cpuUs(): Promise<number>
  stop(): Promise<void>
}

export const isChild = process.send !== undefined

/** Runs a bench file again as the server under test, on a data directory of its own. */
export async function startChild(file: string, kind: string): Promise<Child> {
  const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
  const child = fork(file, [kind, data], { execArgv: [] })
  const [target] = await once(child, 'message')
  return {
    target,
    async cpuUs() {
      child.send('cpu')
      const [us] = await once(child, 'message')
      return us
    },
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(data, { recursive: true })
    }
  }
}

/** In the child: says that it is ready, and answers what its processor time is. */
export function serveParent(target: Target): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(target)
}

export function dataDirectory(): string {
  return process.argv[3] ?? tmpdir()
}
