import t from 'tap'
import { unsupportedRoutes } from '../../../../lib/protocol/wire/routes/unsupported.ts'
import { call, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const noGithub = { status: 400, body: { error: 'GitHub OAuth not configured' } }
const success = { status: 200, body: { success: true } }
const nobody = { status: 200, body: { user: null } }
const usage = { usedSeconds: 0, limitSeconds: 0, conversationCount: 0, conversationLimit: 0, elevenUserId: '' }

const asked: [method: string, path: string, body: object | undefined, answer: object][] = [
  ['GET', '/v1/friends', undefined, { status: 200, body: { friends: [] } }],
  ['POST', '/v1/friends/add', { uid: 'x' }, nobody],
  ['POST', '/v1/friends/remove', { uid: 'x' }, nobody],
  ['GET', '/v1/feed?before=0-1&limit=50', undefined, { status: 200, body: { items: [], hasMore: false } }],
  ['GET', '/v1/user/search?query=a', undefined, { status: 200, body: { users: [] } }],
  ['GET', '/v1/user/somebody', undefined, { status: 404, body: { error: 'User not found' } }],
  ['POST', '/v1/version', { platform: 'ios', version: '1', app_id: 'x' }, { status: 200, body: { updateUrl: null } }],
  ['GET', '/v1/connect/github/params', undefined, noGithub],
  ['GET', '/v1/connect/github/callback?code=a&state=b', undefined, noGithub],
  ['POST', '/v1/connect/github/webhook', { any: 'thing' }, noGithub],
  ['DELETE', '/v1/connect/github', undefined, success],
  [
    'POST',
    '/v1/connect/anthropic/register',
    { token: '{"key":"secret"}' },
    { status: 403, body: { error: 'This server does not store vendor tokens' } }
  ],
  ['GET', '/v1/connect/gemini/token', undefined, { status: 200, body: { token: null } }],
  ['GET', '/v1/connect/tokens', undefined, { status: 200, body: { tokens: [] } }],
  ['DELETE', '/v1/connect/openai', undefined, success],
  ['POST', '/v1/voice/conversations', { agentId: 'x' }, { status: 400, body: { error: 'ELEVENLABS_API_KEY not configured' } }],
  ['GET', '/v1/voice/usage', undefined, { status: 200, body: usage }]
]

t.test('features that this server does not have are answered as empty or not configured [A.11]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const [method, path, body, answer] of asked) t.same(await ada.call(method, path, { body }), answer, `${method} ${path}`)
  t.equal(asked.length, Object.keys(unsupportedRoutes).length, 'all of them are asked')
})

t.test('an unknown vendor is 400, and only the app’s version check needs no account', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  t.equal((await ada.call('GET', '/v1/connect/unknown/token')).status, 400)
  t.equal((await call(server, 'GET', '/v1/connect/gemini/token')).status, 401)
  t.equal((await call(server, 'POST', '/v1/version', { body: {} })).status, 200)
})
