import type { HttpRequest, HttpResponse, WebSocket } from 'uWebSockets.js'
import { hash } from 'node:crypto'
import { routes } from '../../lib/protocol/wire/routes.ts'
import * as v from '../../lib/schema.ts'
import { notAPage } from '../../lib/server/edge/http/byte-answer.ts'
import { parseBody } from '../../lib/server/edge/http/request.ts'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { openBareDatabase } from './bare-loop.ts'
import { type BareSocket, listenBare, serveBareSockets } from './bare-sockets.ts'

/** The promises that `bench promises` adds to the bare loop, one after the other, each as cheaply as we know how. */
export const promises = [
  'no message twice, reading from any number (X1)',
  'counters of session and account in the same transaction (D4)',
  'a checksum for each row (F5)',
  'the token, by its hash (A6)',
  'one meaning for each request, a schema for each body (H4)',
  'answers that no browser takes for a page (H7)',
  'a limit for what each client has not read (B1)'
] as const

interface Posted {
  messages: { content: string; localId: string }[]
}

interface Waiting {
  posted: Posted
  response: HttpResponse
}

const schema = `
  CREATE TABLE account (key INTEGER PRIMARY KEY, clock INTEGER, messages INTEGER, bytes INTEGER);
  CREATE TABLE session (account INTEGER, key INTEGER, last_seq INTEGER, updated_at INTEGER, clock INTEGER, bytes INTEGER, PRIMARY KEY (account, key));
  INSERT INTO account VALUES (1, 0, 0, 0);
  INSERT INTO session VALUES (1, 1, 0, 0, 0, 0);
`
const plainTable = 'CREATE TABLE message (seq INTEGER PRIMARY KEY, local_id TEXT, at INTEGER, sealed TEXT, crc INTEGER)'
const fullTable = `
  CREATE TABLE message (account INTEGER, session INTEGER, seq INTEGER, local_id TEXT, at INTEGER, sealed TEXT, crc INTEGER, PRIMARY KEY (account, session, seq));
  CREATE UNIQUE INDEX by_local_id ON message (account, session, local_id) WHERE local_id IS NOT NULL;
`

/** The bare loop with the first `kept` of the promises. */
export function promisingLoop(kept: number): void {
  const [once, counted, checked, signedIn, clear, inert, bounded] = promises.map((_, index) => index < kept)
  const { database, begin, commit } = openBareDatabase(schema + (once ? fullTable : plainTable))
  const insert = database.prepare(
    once
      ? `INSERT INTO message VALUES (1, 1, ?, ?, ?, ?, ?)
         ON CONFLICT (account, session, local_id) WHERE local_id IS NOT NULL DO NOTHING`
      : 'INSERT INTO message VALUES (?, ?, ?, ?, ?)'
  )
  const findHead = database.prepare('SELECT account, key, last_seq FROM session WHERE account = 1 AND key = 1')
  const findCounters = database.prepare('SELECT clock, messages, bytes FROM account WHERE key = 1')
  const moveSession = database.prepare(
    'UPDATE session SET last_seq = ?, updated_at = ?, clock = ?, bytes = bytes + ? WHERE account = 1 AND key = 1'
  )
  const moveAccount = database.prepare('UPDATE account SET clock = ?, messages = messages + ?, bytes = bytes + ? WHERE key = 1')

  const app = loadUws().App()
  const receivers = new Map<WebSocket<BareSocket>, number>()
  const knownTokens = new Map<string, string>()
  let waiting: Waiting[] = []
  let seq = 0

  function flush() {
    const members = waiting
    waiting = []
    const at = Date.now()
    let [messages, bytes] = [0, 0]
    begin.run()
    if (counted) void [findHead.get(), findCounters.get()]
    const replies = members.map(({ posted, response }) => {
      const rows = posted.messages.map(message => {
        seq += 1
        messages += 1
        bytes += message.content.length
        insert.run(seq, message.localId, at, message.content, checked ? checksumOf(1, seq, message.content) : null)
        return { ...message, id: String(seq), seq, createdAt: at, updatedAt: at }
      })
      return { rows, response }
    })
    if (counted) {
      moveSession.run(seq, at, seq, bytes)
      moveAccount.run(seq, messages, bytes)
    }
    commit.run()
    for (const { rows, response } of replies) {
      for (const { content, ...row } of rows) {
        const body = { t: 'new-message', sid: 's', message: { ...row, content: { t: 'encrypted', c: content } } }
        publish(`42${JSON.stringify(['update', { id: 'u', seq: row.seq, body, createdAt: at }])}`)
      }
      const messages = rows.map(({ content, ...row }) => row)
      answer(response, JSON.stringify({ messages }))
    }
  }

  function publish(frame: string): void {
    if (bounded) for (const ws of receivers.keys()) sendCounted(ws, frame)
    else app.publish('all', frame)
  }

  function sendCounted(ws: WebSocket<BareSocket>, frame: string): void {
    if ((receivers.get(ws) ?? 0) + Buffer.byteLength(frame) > 64 * 1024 * 1024) ws.close()
    ws.send(frame)
    receivers.set(ws, ws.getBufferedAmount())
  }

  function answer(response: HttpResponse, text: string): void {
    response.cork(() => {
      response.writeHeader('content-type', 'application/json')
      if (inert) for (const [name, value] of notAPage) response.writeHeader(name, value)
      response.end(text)
    })
  }

  app.post('/v3/sessions/:id/messages', (response, request) => {
    if (signedIn && !isKnown(request.getHeader('authorization'))) response.close()
    if (clear) readHead(request)
    const chunks: Buffer[] = []
    response.onAborted(() => {})
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk.slice(0)))
      if (!isLast) return
      const body = Buffer.concat(chunks)
      const posted = clear
        ? (v.parse(routes.appendMessages.body, parseBody(body, 'application/json')) as unknown as Posted)
        : JSON.parse(body.toString())
      waiting.push({ posted, response })
      if (waiting.length === 1) setImmediate(flush)
    })
  })
  serveBareSockets(app, {
    connect(ws) {
      receivers.set(ws, 0)
      return ws.subscribe('all')
    },
    closed: ws => void receivers.delete(ws)
  })
  listenBare(app)

  function isKnown(authorization: string): boolean {
    const token = /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? ''
    const digest = hash('sha256', token, 'base64url')
    if (!knownTokens.has(digest)) knownTokens.set(digest, token)
    return knownTokens.get(digest) === token
  }
}

/** What decides where the body ends, whose it is, and what it is. */
function readHead(request: HttpRequest): void {
  let lengths = 0
  request.forEach((name, value) => {
    if (name === 'content-length' && /^\d{1,15}$/.test(value)) lengths += 1
  })
  if (lengths !== 1) throw new Error('The length is not clear')
  request.getHeader('host')
  request.getHeader('origin')
  request.getHeader('x-connection-id')
  request.getQuery()
  request.getParameter(0)
}
