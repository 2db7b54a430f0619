import { createNumbers } from '../../../lib/client/index.ts'
import { openCall, sealAnswer } from '../../../lib/client/sealed/call-seals.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'

/**
 * A machine that returns these results by the name of the call, or of `machine:call`, and the calls that reached it. An error is that of
 * the link; a function returns its result, at once or later. A session answers in the same way.
 */
export function machine<Link>(results: Record<string, unknown>) {
  const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('m1') }
  const asked: unknown[] = []
  const state = { hasKey: true }
  const socket = {
    async request(_: string, { method, params }: { method: string; params: string }) {
      const [target = '', name = ''] = method.split(':')
      const known = results[method] ?? results[name]
      if (known instanceof Error) throw known
      const opened = openCall(cipher, params, { target, method: name })
      if (opened.type !== 'named') throw new Error(opened.type)
      asked.push([method, opened.params])
      const result = typeof known === 'function' ? await known() : known
      return { ok: true, result: sealAnswer(cipher, opened.name, result) }
    }
  }
  const link = { socket, cipherOfMachine: () => (state.hasKey ? cipher : undefined) }
  return { link: link as unknown as Link, asked, state }
}
