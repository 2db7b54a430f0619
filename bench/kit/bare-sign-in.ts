import type { HttpResponse } from 'uWebSockets.js'
import { hash, randomBytes } from 'node:crypto'
import { cryptoReady, signing } from '../../lib/crypto/index.ts'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { openBareDatabase } from './bare-loop.ts'
import { listenBare, serveBareSockets } from './bare-sockets.ts'

interface Claim {
  publicKey: string
  challenge: string
  signature: string
}

const schema = `
  CREATE TABLE account (key INTEGER PRIMARY KEY, public_key TEXT UNIQUE);
  CREATE TABLE used_challenge (hash BLOB PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE token (hash TEXT PRIMARY KEY, account INTEGER) WITHOUT ROWID`

/**
 * The minimum to sign in and accept a socket: the same library verifies the signature, a used challenge is stored, the
 * account and a hashed token are stored with one full sync per turn of the event loop, and the socket's token is looked up.
 */
export async function bareSignIn(): Promise<void> {
  await cryptoReady()
  const { database, begin, commit } = openBareDatabase(schema)
  const spend = database.prepare<[Buffer]>('INSERT INTO used_challenge VALUES (?)')
  const addAccount = database.prepare<[string]>('INSERT INTO account (public_key) VALUES (?) ON CONFLICT DO NOTHING')
  const findAccount = database.prepare<[string], number>('SELECT key FROM account WHERE public_key = ?').pluck()
  const addToken = database.prepare<[string, number]>('INSERT INTO token VALUES (?, ?)')
  const findToken = database.prepare<[string], number>('SELECT account FROM token WHERE hash = ?').pluck()
  const app = loadUws().App()
  let waiting: { claim: Claim; response: HttpResponse }[] = []

  function flush() {
    const members = waiting
    waiting = []
    begin.run()
    const replies = members.map(({ claim, response }) => {
      const token = randomBytes(32).toString('base64url')
      spend.run(hash('sha256', claim.publicKey + claim.challenge, 'buffer'))
      addAccount.run(claim.publicKey)
      addToken.run(hash('sha256', token, 'base64url'), findAccount.get(claim.publicKey) ?? 0)
      return { token, response }
    })
    commit.run()
    for (const { token, response } of replies) {
      response.cork(() => response.writeHeader('content-type', 'application/json').end(JSON.stringify({ success: true, token })))
    }
  }

  app.post('/v1/auth', response => {
    response.onAborted(() => {})
    response.onData(chunk => {
      const claim: Claim = JSON.parse(Buffer.from(chunk).toString())
      if (!isSigned(claim)) throw new Error('The load signs rightly')
      waiting.push({ claim, response })
      if (waiting.length === 1) setImmediate(flush)
    })
  })
  serveBareSockets(app, { connect: (_, auth) => findToken.get(hash('sha256', JSON.parse(auth).token, 'base64url')) !== undefined })
  listenBare(app)
}

function isSigned({ publicKey, challenge, signature }: Claim): boolean {
  const bytes = (text: string) => Buffer.from(text, 'base64')
  return signing.verifyDetached(bytes(signature), bytes(challenge), bytes(publicKey))
}
