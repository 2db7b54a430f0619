import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { emulatorOf } from '../target.mjs'

const withinMs = 300_000

/**
 * Runs a program of the target alone in an empty directory, with an empty PATH, until its server has answered /health. Returns what
 * was seen, as one line for the table.
 */
export async function tryOut(file, target, version) {
  const emulator = emulatorOf(target)
  if (!emulator) return 'not run: nothing here runs it'
  const cwd = mkdtempSync(join(tmpdir(), 'afield-trial-'))
  const [program, ...words] = [...emulator, file, 'serve', '--port', '0', '--data', join(cwd, 'data')]
  const server = spawn(program, words, { cwd, env: { PATH: '', HOME: cwd }, stdio: ['ignore', 'pipe', 'pipe'] })
  const overdue = setTimeout(() => server.kill('SIGKILL'), withinMs)
  try {
    const health = await (await fetch(`${await addressOf(server)}/health`)).json()
    if (health.status !== 'ok' || health.version !== version) throw new Error(`It answered ${JSON.stringify(health)}.`)
    server.kill('SIGTERM')
    const [code] = await once(server, 'exit')
    if (code !== 0) throw new Error(`It ended with ${code}.`)
    return `served and answered /health ${emulator.length === 0 ? 'on this machine' : `under ${basename(emulator[0])}`}`
  } catch (error) {
    throw new Error(`${basename(file)} does not run. ${error.message}`, { cause: error })
  } finally {
    clearTimeout(overdue)
    server.kill('SIGKILL')
    rmSync(cwd, { recursive: true, force: true })
  }
}

async function addressOf(server) {
  let said = ''
  server.stderr.on('data', chunk => {
    said += chunk
  })
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url) return url
  }
  throw new Error(`It did not listen within ${withinMs / 1000} s. ${said.slice(-2000)}`)
}
