import { engine } from '../../lib/crypto/index.ts'
import { createServer } from '../../lib/index.ts'
import { call, signInBody, type Untyped } from '../kit/person.ts'

/** An account on a server. */
export interface Account {
  url: string
  token: string
}

/** A server in this process with one account. */
export async function startWithAccount(data: string): Promise<{ account: Account; close(): Promise<void> }> {
  const server = await createServer({ data, port: 0, signup: 'open', limits: 'off', logLevel: 'error', expoUrl: 'off' })
  const { body } = await call(server, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
  return { account: { url: server.url, token: body.token }, close: () => server.close() }
}

export async function callAs({ url, token }: Account, path: string, body: object): Promise<Untyped> {
  return (await call({ url }, 'POST', path, { token, body })).body
}
