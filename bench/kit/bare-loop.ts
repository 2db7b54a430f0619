import type { HttpResponse } from 'uWebSockets.js'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { loadUws } from '../../lib/server/edge/uws.ts'
import { dataDirectory, serveParent } from './child.ts'

interface Posted {
  messages: { content: string; localId: string }[]
}

/**
 * The least a server can do for this wire and keep its durability: take the body, number and insert, one commit per turn
 * of the event loop with a full sync, answer, publish. No sign-in, no checks, no repeats, no accounts.
 */
export async function bareLoop(): Promise<void> {
  const database = new Database(join(dataDirectory(), 'bare.db'))
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE message (seq INTEGER PRIMARY KEY, local_id TEXT, sealed TEXT, at INTEGER)')
  database.pragma('synchronous = FULL')
  const insert = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const uws = loadUws()
  const app = uws.App()
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
  app.ws('/v1/updates/*', {
    open(ws) {
      ws.subscribe('all')
      ws.send('0{"sid":"x","upgrades":[],"pingInterval":15000,"pingTimeout":45000,"maxPayload":1000000}')
    },
    message(ws, message) {
      if (Buffer.from(message).toString().startsWith('40')) ws.send('40{"sid":"x"}')
    }
  })
  app.listen('127.0.0.1', 0, socket => {
    if (socket) serveParent({ port: uws.us_socket_local_port(socket), token: 'none', session: 's' })
  })
}
