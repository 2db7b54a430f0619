import { askLocal } from '../../local-socket/ask.ts'
import { readOptions } from '../../options.ts'
import * as v from '../../schema.ts'

const status = v.object({ serving: v.object({ url: v.string() }) })

/**
 * The address, as phones reach it, of the server that the same user runs on this computer on the usual data directory. Undefined if
 * there is none, or it cannot be asked: a person can still name it.
 */
export async function serverHere(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  try {
    const { data } = readOptions({}, env).options
    const answer = await askLocal({ directory: data, file: 'control.sock', name: 'readStatus', question: {} })
    return answer && v.parse(status, answer.reply).serving.url
  } catch {
    return undefined
  }
}
