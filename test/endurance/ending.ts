import { once } from 'node:events'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import type { Keeper } from './trial.ts'

/**
 * Asks a server to end while people write to it by HTTP and by socket. What it answered must be stored, no answer may be
 * cut, and it may take 9 s: a stop that always waits for its limit of 10 s is too long.
 */
export async function endUnderLoad(t: Keeper, data: string): Promise<{ answered: number; complaints: string[] }> {
  const server = await startServerProcess(t, { data })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const ended = once(server.child, 'exit')
  const answered = new Set<string>()
  const complaints: string[] = []
  const sockets = await Promise.all(Array.from({ length: 4 }, () => ada.connect()))
  const load = Promise.all([...Array.from({ length: 8 }, (_, writer) => post(writer)), ...sockets.map(emit)])
  while (answered.size < 200) await fetch(`${server.url}/health`)

  const askedAt = performance.now()
  server.child.kill('SIGTERM')
  const [code, signal] = await ended
  const ms = performance.now() - askedAt
  for (const socket of sockets) socket.disconnect()
  await load
  if (code !== 0) complaints.push(`It ended with ${code ?? signal}.`)
  if (ms > 9_000) complaints.push(`It took ${Math.round(ms)} ms to end.`)
  const stored = localIdsIn(data)
  for (const localId of answered) if (!stored.has(localId)) complaints.push(`${localId} was answered and is not stored.`)
  return { answered: answered.size, complaints }

  async function post(writer: number) {
    for (let number = 0; ; number += 1) {
      const localId = `http-${writer}-${number}`
      const answer = await ada.send(session, { localId }).catch(error => error as Error)
      if (answer instanceof SyntaxError) complaints.push(`The answer to ${localId} was cut.`)
      else if (answer instanceof Error || answer.status === 503) return
      else if (answer.status === 200) answered.add(localId)
      else complaints.push(`${localId} was answered with ${answer.status}.`)
    }
  }

  async function emit(socket: Awaited<ReturnType<Person['connect']>>, writer: number) {
    for (let number = 0; socket.connected; number += 1) {
      const localId = `socket-${writer}-${number}`
      socket.emit('message', { sid: session, message: 'eA==', localId })
      // A ping is answered after what came before it.
      const isAnswered = socket.timeout(15_000).emitWithAck('ping')
      if (
        await isAnswered.then(
          () => true,
          () => false
        )
      )
        answered.add(localId)
    }
  }
}

/** What the next server would find. */
export function localIdsIn(data: string): Set<string> {
  const database = new Database(join(data, 'afield.db'), { readonly: true })
  const rows = database.prepare('SELECT local_id FROM message').pluck().all()
  database.close()
  return new Set(rows.map(String))
}
