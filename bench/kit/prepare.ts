import { cryptoReady } from '../../lib/crypto/index.ts'
import { createServer } from '../../lib/index.ts'
import { openAccount, openSession } from './accounts.ts'

// node prepare.ts <data directory> <accounts>   creates accounts and a session of the first, and prints their tokens

const [data = '', accounts = '1'] = process.argv.slice(2)
await cryptoReady()
const { url, close } = await createServer({ port: 0, data, signup: 'open', limits: 'off', logLevel: 'silent' })
const token = await openAccount(url)
const tokens = [token]
while (tokens.length < Number(accounts)) tokens.push(await openAccount(url))
const session = await openSession(url, token)
await close()
console.log(JSON.stringify({ tokens, token, session }))
