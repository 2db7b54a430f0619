import { once } from 'node:events'
import { createServer } from 'node:http'
import { CannotStart } from '../../exit.ts'
import { runProgram } from '../foreign-program.ts'
import type { Challenge } from './certificates.ts'

/** Proves to an authority that a name is ours, for one order. */
interface OpenChallenge {
  type: Challenge['type']
  /** Resolves when the authority can look. */
  show(token: string, answer: string): Promise<void>
  /** Never rejects. */
  hide(token: string, answer: string): Promise<void>
  close(): Promise<void>
}

/** Throws CannotStart if it cannot be prepared. */
export async function openChallenge(challenge: Challenge, name: string, signal: AbortSignal): Promise<OpenChallenge> {
  return challenge.type === 'dns-01' ? dnsChallenge(challenge.hook, name, signal) : httpChallenge(challenge.port)
}

const prefix = '/.well-known/acme-challenge/'

async function httpChallenge(port: number): Promise<OpenChallenge> {
  const answers = new Map<string, string>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const answer = path.startsWith(prefix) ? answers.get(path.slice(prefix.length)) : undefined
    if (answer === undefined) response.writeHead(404, { connection: 'close' }).end()
    else response.writeHead(200, { 'content-type': 'application/octet-stream', connection: 'close' }).end(answer)
  })
  server.listen(port)
  await once(server, 'listening').catch(error => {
    throw new CannotStart(refusalOf(port, error.code), undefined, { cause: error })
  })
  return {
    type: 'http-01',
    async show(token, answer) {
      answers.set(token, answer)
    },
    async hide(token) {
      answers.delete(token)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
}

function refusalOf(port: number, code: string): string {
  const elsewhere = 'forward port 80 of the router to another one, given with --https-challenge-port, or use --https-dns-hook'
  if (code === 'EACCES') return `Port ${port}, where the authority checks the name, needs permission: ${elsewhere}.`
  if (code === 'EADDRINUSE') return `Port ${port}, where the authority checks the name, is used by another program: ${elsewhere}.`
  return `Port ${port}, where the authority checks the name, cannot be used (${code}): ${elsewhere}.`
}

/** A record takes minutes to reach every name server, and the hook waits for that. */
const hookLimitMs = 10 * 60 * 1000

// The hook is called as `hook add|remove <record> <value>`.
function dnsChallenge(hook: string, name: string, signal: AbortSignal): OpenChallenge {
  const record = `_acme-challenge.${name}`
  const run = (verb: 'add' | 'remove', value: string, limits: { signal?: AbortSignal }) =>
    runProgram(hook, [verb, record, value], { limitMs: hookLimitMs, ...limits })
  return {
    type: 'dns-01',
    async show(_token, answer) {
      const { code, complaint } = await run('add', answer, { signal })
      if (code === undefined) throw new Error(`the DNS hook ${hook} cannot be run (${complaint})`)
      if (code !== 0) throw new Error(`the DNS hook ${hook} could not add the record (exit code ${code}): ${complaint}`)
    },
    async hide(_token, answer) {
      await run('remove', answer, {})
    },
    async close() {}
  }
}
