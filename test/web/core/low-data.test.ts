import 'fake-indexeddb/auto'
import t from 'tap'

// Stands in for storage and network information, which a page reads before its first line runs.
const network = Object.assign(new EventTarget(), { type: 'cellular' as string | undefined })
const kept = new Map<string, string>()
Object.defineProperty(navigator, 'connection', { value: network })
Object.defineProperty(globalThis, 'localStorage', {
  value: { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => kept.set(name, value) }
})
// There are no other tabs; an open channel would keep the test from ending.
Object.defineProperty(globalThis, 'BroadcastChannel', { value: undefined })
Object.defineProperty(globalThis, 'document', { value: { documentElement: { dataset: {} } } })
const { flip, isOn, startPreferences } = await import('../../../web/core/preferences.ts')
const { photoWaitsFor } = await import('../../../web/core/low-data.ts')
const { unfinishedUploads } = await import('../../../web/model/outbox/uploads.ts')
const { openFiles } = await import('../../../web/model/session/files.ts')

const photo = (name: string, size: number) => new File([new Uint8Array(size)], name, { type: 'image/jpeg' })
const goesOver = (type: string | undefined) => {
  network.type = type
  network.dispatchEvent(new Event('change'))
}

function opened(id: string, sent: number[]) {
  const upload = async (_session: string, sealed: Uint8Array) => {
    sent.push(sealed.length)
    return `sessions/${id}/attachments/${sent.length}.enc`
  }
  const files = {
    seal: (_session: string, bytes: Uint8Array) => new Uint8Array(bytes),
    sealOf: () => 'seal',
    upload,
    download: () => new Promise<never>(() => {})
  }
  return openFiles({ id, live: { files }, waitsFor: photoWaitsFor })
}

type Files = ReturnType<typeof openFiles>
const statesOf = ({ chosen }: Files) => chosen.value.map(({ state }) => (state.type === 'waits' ? `waits for ${state.for}` : state.type))
/** Waits until the files have these states, in this order. */
async function untilStates(files: Files, ...states: string[]): Promise<Files['chosen']['value']> {
  while (statesOf(files).join() !== states.join()) await new Promise(resolve => setImmediate(resolve))
  return files.chosen.value
}

t.test('in low-data mode a large photo waits for Wi-Fi, also over a restart, and small ones do not', async t => {
  flip('lowData')
  goesOver('cellular')
  const sent: number[] = []
  const before = opened('s1', sent)
  before.choose([photo('rack.jpg', 1_200_000), photo('label.jpg', 90_000), new File([new Uint8Array(1_300_000)], 'all.log')])
  await untilStates(before, 'waits for wifi', 'ready', 'ready')
  t.same(sent.toSorted(), [1_300_000, 90_000])
  before.take()
  while ((await unfinishedUploads('s1').read()).length > 1) await new Promise(resolve => setImmediate(resolve))
  before.close()

  const after = opened('s1', sent)
  await untilStates(after, 'waits for wifi')
  goesOver('wifi')
  await untilStates(after, 'ready')
  t.equal(sent.at(-1), 1_200_000, 'then it is sent automatically')
  after.close()
})

t.test('without network information a large photo waits for consent; once allowed, it continues after a restart', async t => {
  goesOver(undefined)
  const sent: number[] = []
  const files = opened('s2', sent)
  files.choose([photo('rack.jpg', 1_200_000)])
  const [rack] = await untilStates(files, 'waits for word')
  t.same(sent, [])
  files.goNow(rack?.key ?? '')
  files.goNow(rack?.key ?? '')
  await untilStates(files, 'ready')
  t.same(sent, [1_200_000])
  files.close()
})

t.test('without low-data mode no photo waits, and waiting ones are sent when it is turned off', async t => {
  goesOver('cellular')
  const sent: number[] = []
  const files = opened('s3', sent)
  files.choose([photo('rack.jpg', 1_200_000)])
  await untilStates(files, 'waits for wifi')
  flip('lowData')
  await untilStates(files, 'ready')
  files.choose([photo('shed.jpg', 1_500_000)])
  await untilStates(files, 'ready', 'ready')
  t.same(sent, [1_200_000, 1_500_000])
  files.close()
})

t.test("the browser's data saver setting is the default, and can be overridden here", t => {
  kept.clear()
  Object.assign(network, { saveData: true })
  startPreferences()
  t.equal(isOn('lowData'), true)
  flip('lowData')
  t.equal(isOn('lowData'), false)
  t.end()
})
