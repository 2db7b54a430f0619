import { routes } from '../../lib/protocol/wire/routes.ts'
import type { Fuzzed } from './server.ts'
import { asText, fuzzedValue, type Json, jsonOf, mutatedBytes } from './values.ts'
import type { World } from './world.ts'

/** No answer within this time counts as none: calls and long polls wait for others. */
const patienceMs = 2_000

const targets = Object.values(routes).map(route => ({
  method: route.method,
  path: route.path,
  params: jsonOf(route.params),
  query: jsonOf(route.query),
  body: jsonOf(route.body)
}))

/** One request to one route, with as much wrong as luck has it. Returns what must not have been answered. */
export async function attackRoute(server: Fuzzed, world: World): Promise<string | undefined> {
  const { random, known } = world
  const target = random.pick(targets)
  const ask = (schema: Json | undefined) => asFields(fuzzedValue(schema, random, known))
  const params = ask(target.params)
  const path = target.path.replaceAll(/:(\w+)/g, (_, name: string) => encoded(params[name] ?? random.pick(known(name).concat('x'))))
  const query = random.chance(0.9) ? String(new URLSearchParams(texts(ask(target.query)))) : '%%%=&&a=%ff&limit=1&limit=2'
  const headers: Record<string, string> = { 'x-connection-id': random.pick(['', 'x', '\u00ff'.repeat(70)]) }
  if (random.chance(0.9)) headers['authorization'] = `Bearer ${random.chance(0.9) ? world.token() : 'afield1-account.e30.x'}`
  if (random.chance(0.9))
    headers['content-type'] = random.pick(['application/json', 'application/json', 'application/octet-stream', 'text/plain'])
  const body = target.method === 'GET' ? undefined : bodyOf(fuzzedValue(target.body, random, known), world)
  return send(server, world, `${target.method} ${target.path}`, `${path}?${query}`, {
    method: target.method,
    headers,
    ...(body && { body })
  })
}

async function send(server: Fuzzed, world: World, label: string, path: string, init: RequestInit): Promise<string | undefined> {
  const text = async () => {
    const response = await fetch(server.url + path, { ...init, signal: AbortSignal.timeout(patienceMs) })
    return { status: response.status, text: await response.text() }
  }
  const answer = await text().catch(() => undefined)
  if (!answer) return undefined
  if (answer.status === 500) return `${label} was answered with 500 ${answer.text}: ${path} ${String(init.body).slice(0, 500)}`
  if (answer.status === 200) world.learnFrom(parsed(answer.text))
  return undefined
}

function bodyOf(value: unknown, { random }: World): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(value) ?? '')
  return Uint8Array.from(random.chance(0.8) ? json : mutatedBytes(json, random))
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
