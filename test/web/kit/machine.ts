import { createNumbers } from '../../../lib/client/index.ts'
import { openCall, sealAnswer } from '../../../lib/client/sealed/call-seals.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'

/**
 * A machine that returns these results by the name of the call, or of `machine:call`, and the calls that reached it. An error is that of
 * the link.
 */
export function machine<Link>(results: Record<string, unknown>) {
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('m1') }
  const asked: unknown[] = []
  const state = { hasKey: true }
  const socket = {
    async request(_: string, { method, params }: { method: string; params: string }) {
      const [target = '', name = ''] = method.split(':')
      const result = results[method] ?? results[name]
      if (result instanceof Error) throw result
      const opened = openCall(cipher, params, { target, method: name })
      if (opened.type !== 'named') throw new Error(opened.type)
      asked.push([method, opened.params])
      return { ok: true, result: sealAnswer(cipher, opened.name, result) }
    }
  }
  const link = { socket, cipherOfMachine: () => (state.hasKey ? cipher : undefined) }
  return { link: link as unknown as Link, asked, state }
}
