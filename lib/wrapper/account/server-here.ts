import { askLocal } from '../../local-socket/ask.ts'
import { readOptions } from '../../options.ts'
import * as v from '../../schema.ts'
import { fetch } from '../uplink/network.ts'

type Env = Readonly<Record<string, string | undefined>>

const status = v.object({ serving: v.object({ url: v.string() }) })

/**
 * The address, as phones reach it, of the server that the same user runs on this computer on the usual data directory. Undefined if
 * there is none, or it cannot be asked: a person can still name it.
 */
export async function serverHere(env: Env): Promise<string | undefined> {
  try {
    const { data } = readOptions({}, env).options
    const answer = await askLocal({ directory: data, file: 'control.sock', name: 'readStatus', question: {} })
    return answer && v.parse(status, answer.reply).serving.url
  } catch {
    return undefined
  }
}

const health = v.object({ service: v.literal('afield') })
const answersWithinMs = 1_000

/**
 * The address of a server that answers at the usual port of this computer. It may be another user's: a person is asked before it
 * is used.
 */
export async function serverAtUsualPort(env: Env): Promise<string | undefined> {
  try {
    const address = `http://127.0.0.1:${readOptions({}, env).options.port}`
    const answer = await fetch(`${address}/health`, { method: 'GET', headers: {}, signal: AbortSignal.timeout(answersWithinMs) })
    const text = await answer.text()
    return v.is(health, JSON.parse(text)) ? address : undefined
  } catch {
    return undefined
  }
}

/** A server on this computer, to name to a person. */
export async function anyServerHere(env: Env): Promise<string | undefined> {
  return (await serverHere(env)) ?? (await serverAtUsualPort(env))
}
