import type { HttpResponse } from 'uWebSockets.js'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { listenBare, serveBareSockets } from './bare-sockets.ts'
import { dataDirectory } from './child.ts'

interface Posted {
  messages: { content: string; localId: string }[]
}

/**
 * The minimum for a server with this wire and durability: read the body, number and insert, one commit per turn
 * of the event loop with a full sync, answer, publish. No sign-in, no checks, no deduplication, no accounts.
 */
export async function bareLoop(): Promise<void> {
  const { database, begin, commit } = openBareDatabase(
    'CREATE TABLE message (seq INTEGER PRIMARY KEY, local_id TEXT, sealed TEXT, at INTEGER)'
  )
  const insert = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
  const app = loadUws().App()
  let waiting: { posted: Posted; response: HttpResponse }[] = []
  let seq = 0

  function flush() {
    const members = waiting
    waiting = []
    const at = Date.now()
    begin.run()
    const replies = members.map(({ posted, response }) => {
      const rows = posted.messages.map(({ content, localId }) => {
        seq += 1
        insert.run(seq, localId, content, at)
        return { id: String(seq), seq, localId, createdAt: at, updatedAt: at, content }
      })
      return { rows, response }
    })
    commit.run()
    for (const { rows, response } of replies) {
      for (const { content, ...row } of rows) {
        const body = { t: 'new-message', sid: 's', message: { ...row, content: { t: 'encrypted', c: content } } }
        app.publish('all', `42${JSON.stringify(['update', { id: 'u', seq: row.seq, body, createdAt: at }])}`)
      }
      const messages = rows.map(({ content, ...row }) => row)
      response.cork(() => response.writeHeader('content-type', 'application/json').end(JSON.stringify({ messages })))
    }
  }

  app.post('/v3/sessions/:id/messages', response => {
    const chunks: Buffer[] = []
    response.onAborted(() => {})
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk.slice(0)))
      if (!isLast) return
      waiting.push({ posted: JSON.parse(Buffer.concat(chunks).toString()), response })
      if (waiting.length === 1) setImmediate(flush)
    })
  })
  serveBareSockets(app, { connect: ws => ws.subscribe('all') })
  listenBare(app)
}

/** SQLite with the durability that Afield promises, and no other settings. */
export function openBareDatabase(schema: string) {
  const database = new Database(join(dataDirectory(), 'bare.db'))
  database.pragma('journal_mode = WAL')
  database.exec(schema)
  database.pragma('synchronous = FULL')
  return { database, begin: database.prepare('BEGIN IMMEDIATE'), commit: database.prepare('COMMIT') }
}
