import { failures } from '../../lib/protocol/wire/failures.ts'
import { routes } from '../../lib/protocol/wire/routes.ts'
import type { Attack } from './campaign.ts'
import { type Answer, HttpConnection } from './http-connection.ts'
import type { Layer } from './tally.ts'
import { asText, type Json, jsonOf, mutatedBytes, spoiledValue, validValue } from './values.ts'
import type { World } from './world.ts'

/** Then the answer is left to come late, and the attack goes on with another connection. */
const patienceMs = 250
const atOnce = 4
const batches = 10

const targets = Object.values(routes).map(route => ({
  method: route.method,
  path: route.path,
  params: jsonOf(route.params),
  query: jsonOf(route.query),
  body: route.method === 'GET' ? undefined : jsonOf(route.body)
}))

interface Request {
  label: string
  bytes: Buffer
  /** What is wrong with it; undefined if nothing is. */
  layer: Layer | undefined
  token: string
}

/** Requests to routes, with as much wrong as luck has it, some at once on one connection. */
export async function attackRoutes(attack: Attack): Promise<void> {
  const { server, world, tally } = attack
  for (let left = batches; left > 0; left -= 1) {
    if (!attack.connection?.isOpen) attack.connection = new HttpConnection(server.port)
    const { connection } = attack
    // While an answer takes more than a turn, the server closes a connection that sent another request: so most come one by one.
    const requests = Array.from({ length: world.random.chance(0.3) ? world.random.between(2, atOnce) : 1 }, () => requestOf(world))
    const judged = connection.ask(...requests.map(({ bytes }) => bytes)).then(answers => judge(attack, requests, answers))
    if (await isInTime(judged)) continue
    attack.connection = undefined
    connection.leave()
    judged.catch(error => tally.found(String(error)))
  }
}

async function isInTime(work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), patienceMs)
  const isDone = await Promise.race([work.then(() => true), promise])
  clearTimeout(timer)
  return isDone
}

/** What the library answers by itself, before there is a route. */
const ofLibrary = [400, 413, 414, 431, 505]
const statuses = new Set<number>([200, 206, 404, ...ofLibrary, ...Object.values(failures).map(({ status }) => status)])
statuses.delete(failures.internal.status)

function judge({ world, tally }: Attack, requests: readonly Request[], answers: readonly Answer[]): void {
  for (const [index, { status, text }] of answers.entries()) {
    const { label, layer, bytes, token } = requests[index] ?? { label: 'Nothing' }
    if (layer) tally.count(layer)
    if (!statuses.has(status)) tally.found(`${label} was answered with ${status} ${text.slice(0, 300)}: ${bytes?.toString().slice(0, 800)}`)
    if (status === 200) world.learnFrom(text)
    if (status === 401 && token !== undefined && text.includes(failures['bad-token'].says)) world.lost(token)
  }
}

function requestOf(world: World): Request {
  const { random, known } = world
  const target = random.pick(targets)
  const wrong = random.chance(0.1) ? undefined : random.pick(wrongs(target))
  const value = (schema: Json | undefined, isWrong: boolean) => schema && (isWrong ? spoiledValue : validValue)(schema, random, known)
  const params = asFields(value(target.params, wrong === 'path'))
  const path = target.path.replaceAll(/:(\w+)/g, (_, name: string) => encoded(params[name] ?? random.pick(known(name).concat('x'))))
  const query =
    wrong === 'query' && random.chance(0.2)
      ? '%%%=&&a=%ff&limit=1&limit=2'
      : String(new URLSearchParams(texts(asFields(value(target.query, wrong === 'query')))))
  const token = world.token()
  const headers = [`${target.method} ${path}?${query} HTTP/1.1`, 'Host: localhost']
  if (wrong !== 'token') headers.push(`Authorization: Bearer ${token}`)
  else if (random.chance(0.5)) headers.push(`Authorization: ${spoiledToken(world)}`)
  if (wrong === 'header') headers.push(spoiledHeader(world))
  else if (target.body) headers.push('Content-Type: application/json')
  const json = Buffer.from(JSON.stringify(value(target.body, wrong === 'body')) ?? '')
  const body = wrong === 'json' ? spoiledJson(json, world) : json
  if (body.length > 0) headers.push(`Content-Length: ${body.length}`)
  const layer = wrong === 'body' || wrong === 'json' ? 'bodies' : wrong && 'requests'
  return {
    label: `${target.method} ${target.path}`,
    bytes: Buffer.concat([Buffer.from(`${headers.join('\r\n')}\r\n\r\n`, 'latin1'), body]),
    layer,
    token: wrong === 'token' || wrong === 'header' ? '' : token
  }
}

type Wrong = 'path' | 'query' | 'token' | 'header' | 'body' | 'json'

/** What can be wrong with a request, as often as it should be. */
function wrongs({ path, query, body }: (typeof targets)[number]): Wrong[] {
  return [
    'token',
    'header',
    ...(path.includes(':') ? (['path', 'path'] as const) : []),
    ...(Object.keys(query?.properties ?? {}).length > 0 ? (['query', 'query'] as const) : []),
    ...(body ? (['body', 'body', 'body', 'body', 'body', 'json', 'json'] as const) : [])
  ]
}

const tooDeep = Buffer.from('['.repeat(2_000) + ']'.repeat(2_000))

function spoiledJson(json: Buffer, { random }: World): Buffer {
  return random.chance(0.05) ? tooDeep : mutatedBytes(json, random)
}

function spoiledToken(world: World): string {
  const { random } = world
  return random.pick([
    () => 'Bearer afield1-account.e30.x',
    () => 'Bearer',
    () => `Basic ${world.token()}`,
    () => `Bearer ${mutatedBytes(Buffer.from(world.token()), random).toString('hex')}`,
    () => `Bearer ${world.token().slice(0, random.between(1, 60))}`
  ])()
}

function spoiledHeader({ random }: World): string {
  return random.pick([
    'Content-Type: application/octet-stream',
    'Content-Type: application/jsonx',
    'Content-Type: text/plain; charset=utf-16',
    `X-Connection-Id: ${'\u00ff'.repeat(70)}`,
    'X-Connection-Id: __proto__',
    'Range: bytes=9-1',
    'Range: bytes=-',
    `Origin: ${'x'.repeat(300)}`,
    'Content-Length: 1x',
    'Transfer-Encoding: gzip',
    'X-Forwarded-Prefix: /below',
    'X-Forwarded-For: ,,, "',
    'Expect: 100-continue'
  ])
}

function encoded(value: unknown): string {
  return encodeURIComponent(asText(value).toWellFormed())
}

function asFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function texts(fields: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, asText(value)]))
}
