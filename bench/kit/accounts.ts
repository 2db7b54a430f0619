import { newSigner } from './keys.ts'

/** Creates an account at a server that anyone may sign up to, and resolves to a token of it. */
export async function openAccount(url: string): Promise<string> {
  return (await post(`${url}/v1/auth`, newSigner()())).token
}

/** Resolves to the id of a new session. */
export async function openSession(url: string, token: string): Promise<string> {
  const { session } = await post(`${url}/v1/sessions`, JSON.stringify({ tag: 'bench', metadata: '' }), token)
  return session.id
}

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
