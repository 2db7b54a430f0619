import 'fake-indexeddb/auto'
import t from 'tap'
import type { UploadOptions } from '../../../../lib/client/index.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { openFiles } from '../../../../web/model/session/files.ts'
import { until } from '../../kit/device.ts'

const ref = 'sessions/s1/attachments/a.enc'

function link() {
  const asked: { begun: string | undefined; bytes: string }[] = []
  const answers: PromiseWithResolvers<string>[] = []
  const files = {
    // Never the same twice, as with a real cipher.
    seal: (_session: string, bytes: Uint8Array) => new Uint8Array([asked.length + answers.length, ...bytes]),
    sealOf: () => 'seal',
    async upload(_session: string, sealed: Uint8Array, { begun, onBegun, signal }: UploadOptions = {}) {
      asked.push({ begun, bytes: sealed.join() })
      await onBegun?.(begun ?? ref)
      const answer = Promise.withResolvers<string>()
      answers.push(answer)
      signal?.addEventListener('abort', () => answer.reject(signal.reason))
      return answer.promise
    },
    download: () => new Promise<never>(() => {})
  }
  return { asked, answers, open: (id: string) => openFiles({ id, live: { files } }) }
}

const isUp = (files: ReturnType<typeof openFiles>) => until(files.chosen, all => all[0]?.state.type === 'ready')

t.test('an upload unfinished when the app was closed continues where it was, with the same bytes [U8]', async t => {
  const { asked, answers, open } = link()
  const before = open('s1')
  before.choose([new File(['pears'], 'pears.txt', { type: 'text/plain' })])
  await begun(answers, 1)
  before.close()

  const after = open('s1')
  await begun(answers, 2)
  t.strictSame(asked[1], { begun: ref, bytes: asked[0]?.bytes })
  answers[1]?.resolve(ref)
  t.match(await isUp(after), [{ name: 'pears.txt', size: 5, state: { type: 'ready', file: { ref } } }])
  while ((await (await deviceDb()).read('draft-files.s1')) === undefined) await new Promise(resolve => setImmediate(resolve))
  after.close()

  const later = open('s1')
  t.match(await isUp(later), [{ state: { file: { ref } } }], 'uploaded files wait for their message')
  t.equal(asked.length, 2, 'and does not go again')
  later.close()
})

t.test('a removed file does not come back [U8]', async t => {
  const { answers, open } = link()
  const before = open('s2')
  before.choose([new File(['pears'], 'pears.txt')])
  await begun(answers, 1)
  before.remove(before.chosen.value[0]?.key ?? '')
  before.choose([new File(['plums'], 'plums.txt')])
  await begun(answers, 2)
  before.close()
  const after = open('s2')
  await begun(answers, 3)
  t.strictSame(
    after.chosen.value.map(({ name }) => name),
    ['plums.txt']
  )
  after.close()
})

t.test('a file that can never be sent is reported until the message is sent, and one that did not reach the server stays', async t => {
  const { answers, open } = link()
  const files = open('s3')
  files.choose([new File([], 'nothing.txt'), new File(['pears'], 'pears.txt'), new File(['plums'], 'plums.txt')])
  await begun(answers, 2)
  answers[0]?.resolve(ref)
  answers[1]?.reject(new Error('no link'))
  await until(files.chosen, all => all.map(({ state }) => state.type).join() === 'failed,ready,failed')
  t.match(files.take(), [{ name: 'pears.txt' }])
  t.match(files.chosen.value, [{ name: 'plums.txt', state: { type: 'failed', why: 'away' } }])
  t.equal(files.chosen.value.length, 1)
  files.close()
})

/** Waits until so many uploads have started, and the device has stored their progress. */
async function begun(answers: readonly unknown[], count: number): Promise<void> {
  while (answers.length < count) await new Promise(resolve => setImmediate(resolve))
}
