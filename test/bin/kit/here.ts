import type { Test } from 'tap'
import { commands } from '../../../bin/commands.ts'
import { CannotStart } from '../../../lib/exit.ts'

type Handler = Awaited<ReturnType<(typeof commands)[number]['load']>>['handler']

/** A command in this process, with these options: what it wrote, and the exit code. Nobody answers its questions. */
export async function here(
  t: Pick<Test, 'capture' | 'intercept'>,
  command: string | Handler,
  options: object,
  env: Record<string, string> = {}
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const handler =
    typeof command === 'string' ? (await commands.find(({ usage }) => usage.split(' ')[0] === command)?.load())?.handler : command
  const written = { stdout: '', stderr: '' }
  const own = t.intercept(process, 'env', { value: { PATH: process.env['PATH'], NO_COLOR: '1', ...env } })
  const tty = t.intercept(process.stdout, 'isTTY', { value: false })
  const exit = t.intercept(process, 'exit', {
    value: (code: number) => {
      throw new Exited(code)
    }
  })
  const streams = (['stdout', 'stderr'] as const).map(name =>
    t.capture(process[name], 'write', (text: string) => {
      written[name] += text
      return true
    })
  )
  try {
    await handler?.({ _: [], $0: '', ...options })
    return { code: process.exitCode ?? 0, ...written }
  } catch (error) {
    if (error instanceof Exited) return { code: error.code, ...written }
    if (error instanceof CannotStart) return { code: error.exitCode, ...written, stderr: `${written.stderr}${error.message}\n` }
    throw error
  } finally {
    for (const restore of [...streams.map(({ restore }) => restore), own.restore, tty.restore, exit.restore]) restore()
  }
}

class Exited extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exited with ${code}`)
    this.code = code
  }
}
