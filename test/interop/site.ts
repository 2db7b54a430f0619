import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startBalanced, type Which } from '../kit/balancer.ts'
import { portToKeep } from '../kit/port.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import type { Stage } from './steps.ts'

/** Where a scenario is played: what its clients connect to, and the outages that they must survive. */
export interface Site {
  /** The server as the CLI knows it, and as the phone does. */
  url: string
  phoneUrl: string
  /** What the CLI needs in its environment to trust it. */
  env: Readonly<Record<string, string>>
  /** Each in the middle of a turn. */
  cuts: readonly Cut[]
  /** While the phone sends prompts. */
  cutUnderPrompts?: Cut
}

export interface Cut {
  name: string
  isHeardByPhone: boolean
  prepare?(): Promise<void>
  /** Resolves when clients can come back. */
  run(): Promise<void>
}

/** One server, which is killed and started again. */
export async function startSingle(stage: Stage, args: string[]): Promise<Site> {
  const data = join(stage.folder, 'data')
  const port = await portToKeep()
  const serve = () => startServerProcess(stage, { data, port, args })
  let server = await serve()
  const run = async () => {
    await server.kill()
    server = await serve()
  }
  const cuts = [{ name: 'the server is killed in mid-turn and comes back', isHeardByPhone: true, run }]
  return { url: server.url, phoneUrl: server.url, env: {}, cuts }
}

/** Two instances behind nginx. At first the CLI is with one and the phone with the other; each is killed, and comes back later. */
export async function startInstances(stage: Stage, args: string[]): Promise<Site> {
  const data = join(stage.folder, 'data')
  for (const folder of ['one', 'two']) mkdirSync(join(data, folder), { recursive: true })
  const balanced = await startBalanced(stage, data, { args })
  setDefaultCACertificates([...getCACertificates(), readFileSync(balanced.authority, 'utf8')])

  const isWithOne = (await balanced.addressFor('one')) === '127.0.0.1'
  const [ofCli, ofPhone]: Which[] = isWithOne ? ['one', 'two'] : ['two', 'one']
  if (!ofCli || !ofPhone) throw new Error('There are two instances.')
  const way = await openTcpProxy(stage, `http://127.0.0.1:${balanced.port}`, { localAddress: await balanced.addressFor(ofPhone) })
  const kill = (which: Which) => () => balanced.instances[which].kill()
  const cuts = [
    { name: 'the instance of the CLI is killed in mid-turn', isHeardByPhone: false, run: kill(ofCli) },
    {
      name: 'it comes back, and the other one is killed in mid-turn',
      isHeardByPhone: true,
      prepare: () => balanced.start(ofCli),
      run: kill(ofPhone)
    }
  ]
  const cutUnderPrompts = {
    name: 'prompts sent while an instance dies are stored once and reach the agent',
    isHeardByPhone: true,
    prepare: () => balanced.start(ofPhone),
    run: kill(ofCli)
  }
  return {
    url: balanced.url,
    phoneUrl: `https://localhost:${new URL(way.url).port}`,
    env: { NODE_EXTRA_CA_CERTS: balanced.authority },
    cuts,
    cutUnderPrompts
  }
}
