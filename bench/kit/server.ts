import { cryptoReady, engine, signChallenge, toBase64 } from '../../lib/crypto/index.ts'
import { createServer } from '../../lib/index.ts'
import { dataDirectory, serveParent } from './child.ts'

/** Afield itself, as `createServer` makes it, with an account and a session. */
export async function afieldServer(): Promise<void> {
  await cryptoReady()
  const { url, port } = await createServer({ port: 0, data: dataDirectory(), signup: 'open', limits: 'off', logLevel: 'silent' })
  const challenge = engine.randomBytes(32)
  const { publicKey, signature } = signChallenge(engine.randomBytes(32), challenge)
  const { token } = await post(`${url}/v1/auth`, {
    publicKey: toBase64(publicKey),
    challenge: toBase64(challenge),
    signature: toBase64(signature)
  })
  const { session } = await post(`${url}/v1/sessions`, { tag: 'bench', metadata: '' }, token)
  serveParent({ port, token, session: session.id })
}

/** The parts of two replies that are needed here. */
interface Posted {
  token: string
  session: { id: string }
}

async function post(url: string, body: object, token?: string): Promise<Posted> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json() as Promise<Posted>
}
