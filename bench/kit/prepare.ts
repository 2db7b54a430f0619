import { cryptoReady } from '../../lib/crypto/index.ts'
import { createServer } from '../../lib/index.ts'
import { newSigner } from './keys.ts'

// node prepare.ts <data directory> <accounts>   creates accounts and a session of the first, and prints their tokens

const [data = '', accounts = '1'] = process.argv.slice(2)
await cryptoReady()
const { url, close } = await createServer({ port: 0, data, signup: 'open', limits: 'off', logLevel: 'silent' })
const tokens: string[] = []
while (tokens.length < Number(accounts)) tokens.push((await post(`${url}/v1/auth`, newSigner()())).token)
const { session } = await post(`${url}/v1/sessions`, JSON.stringify({ tag: 'bench', metadata: '' }), tokens[0])
await close()
console.log(JSON.stringify({ tokens, token: tokens[0], session: session.id }))

/** The parts of two replies that are used here. */
interface Posted {
  token: string
  session: { id: string }
}

async function post(url: string, body: string, token?: string): Promise<Posted> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json() as Promise<Posted>
}
