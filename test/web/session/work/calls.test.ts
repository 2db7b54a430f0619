import t from 'tap'
import type { Cipher } from '../../../../lib/client/index.ts'
import { openWorkCalls, type WorkSources } from '../../../../web/session/work/calls.ts'

const plain: Cipher = { seal: value => JSON.stringify(value), open: sealed => ({ ok: true, value: JSON.parse(sealed) }) }

/** The calls to a wrapper that answers every method with this. */
function answeredWith(answer: unknown, { calls = [], ...given }: { calls?: unknown[] } & Partial<WorkSources> = {}) {
  const request = async (_event: string, { method, params }: { method: string; params: string }) => {
    calls.push([method, JSON.parse(params)])
    return { ok: true, result: JSON.stringify(answer) }
  }
  return openWorkCalls({
    id: 's1',
    live: { socket: Object.assign(Object.create(null), { request }), cipherOf: () => plain },
    folder: () => '/home/mira/orchard',
    methods: () => undefined,
    ...given
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

t.test('a session without a readable key is asked nothing', async t => {
  const calls: unknown[] = []
  const live = { ...Object.create(null), socket: { request: async () => t.fail('asked') }, cipherOf: () => undefined }
  await t.rejects(answeredWith({}, { calls, live }).log(20, 0), { name: 'CallFailed', reason: 'unreadable' })
})

t.test('a file that arrives damaged is said to be unreadable', async t => {
  await t.rejects(answeredWith({ success: true, content: 'not base64!' }).read('a.ts'), { name: 'CallFailed', reason: 'unreadable' })
  t.same(await answeredWith({ success: true, content: 'AQI=' }).read('a.ts'), new Uint8Array([1, 2]))
})

t.test('each call names the session, its method and what it is about; paths are inside of the folder', async t => {
  const calls: unknown[] = []
  const methods = () => ['gitStatus']
  const wrapper = answeredWith(
    { success: true, content: '', entries: [], files: [], isRepository: false, why: 'no-git' },
    { calls, methods }
  )
  const asked = { path: 'a.ts', from: 'b.ts', load: true }
  // Not all of them can read this answer; what was asked counts here.
  for (const call of [
    () => wrapper.status(),
    () => wrapper.diff(asked),
    () => wrapper.stage(['a.ts']),
    () => wrapper.unstage(['b.ts']),
    () => wrapper.commit('Begin'),
    () => wrapper.log(20, 40),
    () => wrapper.show('c0ffee'),
    () => wrapper.findFiles('a'),
    () => wrapper.list(''),
    () => wrapper.read('src/a.ts')
  ]) {
    await call().catch(() => {})
  }
  t.match(calls, [
    ['s1:gitStatus', {}],
    ['s1:gitDiff', asked],
    ['s1:gitStage', { paths: ['a.ts'] }],
    ['s1:gitUnstage', { paths: ['b.ts'] }],
    ['s1:gitCommit', { message: 'Begin' }],
    ['s1:gitLog', { limit: 20, skip: 40 }],
    ['s1:gitShow', { commit: 'c0ffee' }],
    ['s1:findFiles', { query: 'a' }],
    ['s1:listDirectory', { path: '/home/mira/orchard' }],
    ['s1:readFile', { path: '/home/mira/orchard/src/a.ts' }]
  ])
  t.equal(calls.length, 10)
})

t.test('a wrapper without git methods is asked through its shell', async t => {
  for (const methods of [undefined, [], ['gitDiff']]) {
    const calls: [string, { command?: string }][] = []
    const wrapper = answeredWith({ success: true, stdout: 'old\n', content: 'bmV3Cg==' }, { calls, methods: () => methods })
    t.same(await wrapper.diff({ path: 'a.ts', from: 'b.ts' }), { type: 'text', oldText: 'old\n', newText: 'new\n' })
    t.same(calls.map(([method]) => method).sort(), ['s1:bash', 's1:readFile'])
    t.match(calls.find(([method]) => method === 's1:bash')?.[1].command, /cat-file blob 'HEAD:\.\/b\.ts'$/)
  }
})
