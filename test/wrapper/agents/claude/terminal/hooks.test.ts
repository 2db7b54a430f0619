import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { type Hook, openHooks } from '../../../../../lib/wrapper/agents/claude/terminal/hooks.ts'

t.test('a hook is heard as far as it can be read, and its answer is what the wrapper says', async t => {
  const heard: Hook[] = []
  const { post } = await listening(t, async hook => {
    heard.push(hook)
    return { answer: hook.prompt ?? 'none' }
  })
  const answer = await post({ hook_event_name: 'UserPromptSubmit', prompt: 'Look', tool_use_id: 5, index: -1, of: 'a later version' })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.strictSame(await answer.json(), { answer: 'Look' })
  t.strictSame(await (await post({ hook_event_name: 'Stop', prompt: 5 })).json(), { answer: 'none' })
  t.match(heard, [
    { hook_event_name: 'UserPromptSubmit', prompt: 'Look', tool_use_id: undefined, index: undefined, of: 'a later version' },
    { hook_event_name: 'Stop', prompt: undefined }
  ])
})

t.test('only a call with the token is heard', async t => {
  let heard = 0
  const { post, url, headers } = await listening(t, () => ({ heard: ++heard }))
  t.equal((await post({ hook_event_name: 'Stop' }, {})).status, 401)
  t.equal((await post({ hook_event_name: 'Stop' }, { authorization: `${headers['Authorization']}x` })).status, 401)
  t.equal((await fetch(url, { headers })).status, 401)
  t.equal(heard, 0)
  t.strictSame(await (await post({ hook_event_name: 'Stop' })).json(), { heard: 1 })
})

t.test('what is no hook, and one that fails, gets no answer', async t => {
  const { post, url, headers } = await listening(t, () => {
    throw new Error('broken')
  })
  await t.rejects(fetch(url, { method: 'POST', headers, body: 'no json' }))
  await t.rejects(post({}), 'without a name')
  await t.rejects(post({ hook_event_name: 'Stop' }))
})

t.test('a hook longer than 32 MiB is not read to its end', async t => {
  let heard = 0
  const { post } = await listening(t, () => ({ heard: ++heard }))
  await t.rejects(post({ hook_event_name: 'Stop', prompt: 'a'.repeat(32 * 1024 * 1024) }))
  t.equal(heard, 0)
  t.equal((await post({ hook_event_name: 'Stop', prompt: 'a'.repeat(31 * 1024 * 1024) })).status, 200)
})

t.test('a question learns that nobody waits for its answer any more', async t => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<AbortSignal>()
  const { url, headers } = await listening(t, async (_, gone) => {
    asked(gone)
    await once(gone, 'abort')
    return {}
  })
  const body = JSON.stringify({ hook_event_name: 'PermissionRequest' })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\nauthorization: ${headers['Authorization']}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  const gone = await isAsked
  t.equal(gone.aborted, false)
  socket.destroy()
  if (!gone.aborted) await once(gone, 'abort')
})

t.test('Claude Code waits a day for an answer of a person, and seconds for all else', async t => {
  const { settings, close } = await listening(t, () => ({}))
  const { hooks, companyAnnouncements } = JSON.parse(readFileSync(settings, 'utf8'))
  t.strictSame(companyAnnouncements, ['On your phone too'])
  for (const name of ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'MessageDisplay', 'Stop', 'StopFailure'])
    t.match(hooks[name], [{ hooks: [{ type: 'http', timeout: 5 }] }], name)
  t.match(hooks.PermissionRequest, [{ hooks: [{ type: 'http', timeout: 86_400 }] }])
  close()
  t.equal(existsSync(dirname(settings)), false)
})

/** Hooks of a Claude Code, as it reads them from its settings. */
async function listening(t: Test, onHook: Parameters<typeof openHooks>[0]['onHook']) {
  const { settings, close } = await openHooks({ home: t.testdir(), announcement: 'On your phone too', onHook })
  t.teardown(close)
  const { url, headers }: { url: string; headers: Record<string, string> } = JSON.parse(readFileSync(settings, 'utf8')).hooks.Stop[0]
    .hooks[0]
  const post = (hook: object, more = headers) => fetch(url, { method: 'POST', headers: more, body: JSON.stringify(hook) })
  return { settings, close, url, headers, post }
}
