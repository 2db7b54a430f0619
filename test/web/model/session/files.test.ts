import 'fake-indexeddb/auto'
import { signal } from '@preact/signals'
import t from 'tap'
import type { UploadOptions } from '../../../../lib/client/index.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import type { WaitsFor } from '../../../../web/core/low-data.ts'
import { openFiles } from '../../../../web/model/session/files.ts'
import { until } from '../../kit/device.ts'

const ref = 'sessions/s1/attachments/a.enc'

function link() {
  const asked: { begun: string | undefined; bytes: string }[] = []
  const answers: PromiseWithResolvers<string>[] = []
  const uploads: UploadOptions[] = []
  const downloads: { file: unknown; answer: PromiseWithResolvers<Uint8Array<ArrayBuffer>> }[] = []
  const files = {
    // Never the same twice, as with a real cipher.
    seal: (_session: string, bytes: Uint8Array) => new Uint8Array([asked.length + answers.length, ...bytes]),
    sealOf: () => 'seal',
    async upload(_session: string, sealed: Uint8Array, options: UploadOptions = {}) {
      const { begun, onBegun, signal } = options
      asked.push({ begun, bytes: sealed.join() })
      uploads.push(options)
      await onBegun?.(begun ?? ref)
      const answer = Promise.withResolvers<string>()
      answers.push(answer)
      signal?.addEventListener('abort', () => answer.reject(signal.reason))
      return answer.promise
    },
    download(session: string, file: object) {
      const answer = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
      downloads.push({ file: { session, ...file }, answer })
      return answer.promise
    }
  }
  const open = (id: string, waitsFor?: Parameters<typeof openFiles>[0]['waitsFor']) =>
    openFiles({ id, live: { files }, ...(waitsFor && { waitsFor }) })
  return { asked, answers, uploads, downloads, open }
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

t.test('an upload shows how far it is, ends with the file, and is cut off when the file is removed or the session closed', async t => {
  const { answers, uploads, open } = link()
  const files = open('s4')
  files.choose([new File(['pears'], 'pears.txt', { type: 'text/plain' }), new File(['plums'], 'plums.txt')])
  t.match(files.chosen.value, [
    { name: 'pears.txt', size: 5, state: { type: 'reading' } },
    { name: 'plums.txt', state: { type: 'reading' } }
  ])
  await begun(answers, 2)
  t.strictSame(files.chosen.value[0]?.state, { type: 'uploading', sent: 0 })
  uploads[0]?.onProgress?.(2, 8)
  t.strictSame(files.chosen.value[0]?.state, { type: 'uploading', sent: 0.25 })
  answers[0]?.resolve(ref)
  const [pears, plums] = await isUp(files)
  const file = { ref, seal: 'seal', name: 'pears.txt', size: 5, mimeType: 'text/plain', image: undefined }
  t.strictSame(pears?.state, { type: 'ready', file })
  files.remove(plums?.key ?? '')
  t.equal(uploads[1]?.signal?.aborted, true)
  t.match(files.chosen.value, [{ name: 'pears.txt' }])
  t.equal(files.chosen.value.length, 1)
  t.strictSame(files.take(), [file])
  t.same(files.chosen.value, [])
  files.choose([new File(['figs'], 'figs.txt')])
  await begun(answers, 3)
  files.close()
  t.equal(uploads[2]?.signal?.aborted, true)
})

t.test('a file that did not reach the server goes again on request, one that is on its way does not', async t => {
  const { answers, asked, open } = link()
  const files = open('s5')
  t.teardown(files.close)
  files.choose([new File(['pears'], 'pears.txt')])
  await begun(answers, 1)
  const key = files.chosen.value[0]?.key ?? ''
  files.tryAgain(key)
  files.tryAgain('of nothing')
  t.equal(asked.length, 1)
  answers[0]?.reject(new Error('no link'))
  await until(files.chosen, all => all[0]?.state.type === 'failed')
  t.strictSame(files.chosen.value[0]?.state, { type: 'failed', why: 'away' })
  files.tryAgain(key)
  await begun(answers, 2)
  t.strictSame(asked[1], { begun: ref, bytes: asked[0]?.bytes }, 'it continues where it was')
  answers[1]?.resolve(ref)
  await isUp(files)
})

t.test('why a file cannot be sent is shown, and a picture before it is sent', async t => {
  const { answers, open } = link()
  const files = open('s6')
  files.choose([
    new File([], 'nothing.txt'),
    new File(['x'], 'tree.png', { type: 'image/png' }),
    new File(['x'], 'tree.svg', { type: 'image/svg+xml' })
  ])
  await begun(answers, 2)
  const [nothing, png, svg] = files.chosen.value
  t.strictSame(nothing?.state, { type: 'failed', why: 'empty' })
  t.match(png?.preview, /^blob:/)
  t.equal(svg?.preview, undefined, 'it could contain a page')
  const blob = await fetch(png?.preview ?? '')
  t.same([blob.headers.get('content-type'), await blob.text()], ['image/png', 'x'])
  files.close()
  await t.rejects(fetch(png?.preview ?? ''), 'the addresses end with the session')
})

t.test('a file waits for what it has to wait for, until it may go or is sent anyway', async t => {
  const cause = signal<WaitsFor | undefined>('wifi')
  const { answers, asked, open } = link()
  const files = open('s7', () => cause.value)
  t.teardown(files.close)
  const states = () => files.chosen.value.map(({ state }) => (state.type === 'waits' ? `waits for ${state.for}` : state.type))
  files.choose([new File(['pears'], 'pears.txt'), new File(['plums'], 'plums.txt')])
  await until(files.chosen, () => states().join() === 'waits for wifi,waits for wifi')
  cause.value = 'word'
  t.same(states(), ['waits for word', 'waits for word'])
  t.equal(asked.length, 0)
  files.goNow(files.chosen.value[1]?.key ?? '')
  await begun(answers, 1)
  t.same(states(), ['waits for word', 'uploading'])
  t.match(asked[0]?.bytes, new TextEncoder().encode('plums').join())
  cause.value = undefined
  await begun(answers, 2)
  t.same(states(), ['uploading', 'uploading'])
})

t.test('after a restart a file that waited still waits, and one that had started continues', async t => {
  const { answers, open } = link()
  const before = open('s8')
  before.choose([new File(['pears'], 'pears.txt')])
  await begun(answers, 1)
  before.close()
  const waiting = open('s9', () => 'wifi')
  waiting.choose([new File(['plums'], 'plums.txt')])
  await until(waiting.chosen, all => all[0]?.state.type === 'waits')
  waiting.close()

  const started = open('s8', () => 'wifi')
  t.match(await until(started.chosen, all => all.length === 1), [{ name: 'pears.txt', size: 5, state: { type: 'uploading', sent: 0 } }])
  started.close()
  const still = open('s9', () => 'wifi')
  t.match(await until(still.chosen, all => all.length === 1), [{ name: 'plums.txt', size: 5, state: { type: 'waits', for: 'wifi' } }])
  const known = answers.length
  still.goNow(still.chosen.value[0]?.key ?? '')
  await begun(answers, known + 1)
  t.match(still.chosen.value, [{ state: { type: 'uploading' } }], 'unless it is sent anyway')
  t.strictSame(still.take(), [])
  t.equal(still.chosen.value.length, 1, 'one that is on its way is not taken')
  still.close()
})

t.test('files that were uploaded before are offered once, and damaged ones of the last visit not at all', async t => {
  const db = await deviceDb()
  const kept = { ref: 'r1', name: 'tree.png', size: 3 }
  await db.write('draft-files.s10', [null, 'x', {}, { ref: 'r2' }, { name: 'a' }, kept])
  const files = link().open('s10')
  t.teardown(files.close)
  t.strictSame(await until(files.chosen, all => all.length > 0), [
    { key: 'r1', name: 'tree.png', size: 3, state: { type: 'ready', file: kept } }
  ])
  const other = { ref: 'r3', name: 'b', size: 1 }
  files.offer([kept, other])
  t.strictSame(
    files.chosen.value.map(({ key }) => key),
    ['r1', 'r3']
  )
  t.strictSame(files.take(), [kept, other])
  while ((await db.read('draft-files.s10')) !== undefined) await new Promise(resolve => setImmediate(resolve))
  await db.write('draft-files.s11', 'text')
  const damaged = link().open('s11')
  await db.read('draft-files.s11')
  await new Promise(resolve => setImmediate(resolve))
  t.same(damaged.chosen.value, [])
  damaged.close()
})

t.test('a picture of the session is downloaded once, and again if that failed', async t => {
  const { downloads, open } = link()
  const files = open('s12')
  const tree = { ref: 'r1', name: 'tree.png', size: 3, mimeType: 'image/png' }
  const first = files.show(tree)
  t.equal(files.show(tree), first)
  t.strictSame(
    downloads.map(({ file }) => file),
    [{ session: 's12', ...tree }]
  )
  downloads[0]?.answer.reject(new Error('no link'))
  await t.rejects(first, { message: 'no link' })
  const second = files.show(tree)
  downloads[1]?.answer.resolve(new Uint8Array([120]))
  const shown = await fetch(await second)
  t.same([shown.headers.get('content-type'), await shown.text()], ['image/png', 'x'])
  t.equal(files.show(tree), second)
  files.close()
  await t.rejects(fetch(await second))
})

/** Waits until so many uploads have started, and the device has stored their progress. */
async function begun(answers: readonly unknown[], count: number): Promise<void> {
  while (answers.length < count) await new Promise(resolve => setImmediate(resolve))
}
