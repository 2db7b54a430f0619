import t from 'tap'
import type { Cipher } from '../../../../lib/client/index.ts'
import { openWorkCalls } from '../../../../web/session/work/calls.ts'

const plain: Cipher = { seal: value => JSON.stringify(value), open: sealed => ({ ok: true, value: JSON.parse(sealed) }) }

/** The calls to a wrapper that answers every method with this. */
function answeredWith(answer: unknown) {
  const request = async () => JSON.parse(JSON.stringify({ ok: true, result: JSON.stringify(answer) }))
  return openWorkCalls({
    id: 's1',
    live: { socket: Object.assign(Object.create(null), { request }), cipherOf: () => plain },
    folder: () => '/home/mira/orchard',
    methods: () => undefined
  })
}

const bytes = new Uint8Array([1])

t.test('what a wrapper refuses inside its result is a failure with its reason, never an empty folder or a saved file', async t => {
  const calls = answeredWith({ success: false, error: 'EACCES: permission denied' })
  const all: Record<string, () => Promise<unknown>> = {
    list: () => calls.list('src'),
    read: () => calls.read('src/a.ts'),
    write: () => calls.write('src/a.ts', bytes, bytes),
    status: () => calls.status()
  }
  for (const [what, call] of Object.entries(all)) await t.rejects(call(), { name: 'CallFailed', message: /EACCES/ }, what)
})

t.test('a file with other content than was read is not saved over, but said to have changed', async t => {
  t.equal(await answeredWith({ success: false, error: 'File hash mismatch' }).write('a.ts', bytes, bytes), 'changed')
  t.equal(await answeredWith({ success: true, hash: 'x' }).write('a.ts', bytes, bytes), 'saved')
})
