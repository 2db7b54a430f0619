import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Test } from 'tap'
import { lacks } from './needs.ts'
import { portToKeep } from './port.ts'
import { lacksPostgres, startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { type ReverseProxy, startReverseProxy } from './reverse-proxy.ts'
import { type ServerProcess, startServerProcess } from './server.ts'

const example = join(import.meta.dirname, '../../examples/several-instances')

/** Why tests with a balancer are skipped; false if they can run. */
export const lacksBalancer = lacks('nginx') || lacks('redis') || lacksPostgres

export type Which = 'one' | 'two'

interface Asked {
  /** Of the client, which decides its instance. */
  from: string
  token?: string
  method?: string
  body?: unknown
}

/** Two instances on a real PostgreSQL and Redis, behind a real nginx, with the files of examples/several-instances. */
export interface Balanced extends ReverseProxy {
  readonly port: number
  readonly instances: Record<Which, ServerProcess>
  /** Starts one that was killed again. */
  start(which: Which): Promise<void>
  /** An address of this computer whose requests go to that instance while both run. */
  addressFor(which: Which): Promise<string>
  ask(path: string, asked: Asked): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>
}

/** `data` has a folder for each instance. */
export async function startBalanced(
  t: Pick<Test, 'teardown'>,
  data: string,
  { signup = 'open', limits = 'off', args: more = [] }: { signup?: string; limits?: string; args?: string[] } = {}
): Promise<Balanced> {
  const port = await portToKeep()
  const ports = { one: await portToKeep(), two: await portToKeep() }
  const secrets = join(data, 'secrets')
  execFileSync('sh', [join(example, 'make-secrets.sh'), secrets])
  const [redis, postgres] = await Promise.all([startRedis(t, { aclfile: join(secrets, 'redis-users') }), startPostgres(t)])
  const secret = (name: string, service: string, instead: string) => {
    const file = join(data, name)
    writeFileSync(file, readFileSync(join(secrets, name), 'utf8').replace(service, instead))
    return file
  }
  const { pathname, host } = new URL(await postgres.makeDatabase())
  const env = {
    AFIELD_STORE_FILE: secret('store', '@postgres/afield', `@${host}${pathname}`),
    AFIELD_BUS_FILE: secret('bus', '@redis:6379', `@127.0.0.1:${redis.port}`)
  }
  // Not `loopback`: the clients of these tests have other addresses of it.
  const args = ['--public-url', `https://localhost:${port}`, '--trust-proxy', '127.0.0.1', ...more]
  const start = (which: Which) =>
    startServerProcess(t, {
      data: join(data, which),
      port: ports[which],
      signup,
      limits,
      args,
      env: { ...env, AFIELD_METRICS_TOKEN: metricsToken(which) }
    })
  const instances = { one: await start('one'), two: await start('two') }
  const proxy = await startReverseProxy(t, 'nginx', {
    serverPort: ports.one,
    port,
    change: () =>
      readFileSync(join(example, 'nginx.conf'), 'utf8')
        .replace('172.30.0.11:3005', `127.0.0.1:${ports.one}`)
        .replace('172.30.0.12:3005', `127.0.0.1:${ports.two}`)
  })
  const ca = readFileSync(proxy.authority)

  async function ask(path: string, { from, token, method = 'GET', body }: Asked) {
    const sent = body === undefined ? '' : JSON.stringify(body)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({
        ...{ ca, port, path, method, host: '127.0.0.1', servername: 'localhost', localAddress: from, agent: false },
        headers: {
          host: `localhost:${port}`,
          ...(token && { authorization: `Bearer ${token}` }),
          ...(sent && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) })
        }
      })
        .on('response', resolve)
        .on('error', reject)
        .end(sent)
    })
    return { status: answer.statusCode ?? 0, body: await json(answer).catch(() => undefined) }
  }

  return {
    ...proxy,
    port,
    instances,
    ask,
    async start(which) {
      instances[which] = await start(which)
    },
    async addressFor(which) {
      for (let last = 1; last < 100; last++) {
        const from = `127.0.0.${last}`
        // Each knows its own token only.
        const { status } = await ask('/metrics', { from, token: metricsToken(which) })
        if (status === 200) return from
      }
      throw new Error(`nginx sends no address to instance ${which}`)
    }
  }
}

function metricsToken(which: Which): string {
  return `metrics-of-instance-${which}`
}
