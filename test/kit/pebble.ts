import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Test } from 'tap'
import { writeCertificate } from './certificate.ts'
import { portToKeep } from './port.ts'

/** A real certificate authority that speaks ACME and checks every challenge; it trusts a name server of its own. */
export interface Pebble {
  directory: string
  /** The file with the certificate that clients of its API have to trust. */
  ca: string
  /** The port on which it looks for HTTP-01 answers. */
  challengePort: number
  /** The name server that it asks, and the address at which a test changes records: `POST /set-txt`. */
  names: { server: string; management: string }
}

/** `resolver` is an earlier one, whose name server this one asks too. */
export async function startPebble(t: Test, { resolver }: { resolver?: Pebble } = {}): Promise<Pebble> {
  const [port, challengePort, tlsPort] = [await portToKeep(), await portToKeep(), await portToKeep()]
  const names = resolver?.names ?? (await startNameServer(t))
  const place = join(t.testdirName, `pebble-${port}`)
  mkdirSync(t.testdirName, { recursive: true })
  const api = { tlsCert: `${place}.pem`, tlsKey: `${place}.key` }
  writeCertificate(api)
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: '',
    certificate: api.tlsCert,
    privateKey: api.tlsKey,
    httpPort: challengePort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: false
  }
  writeFileSync(`${place}.json`, JSON.stringify({ pebble }))
  await run(t, 'pebble', ['-config', `${place}.json`, '-dnsserver', names.server], 'ACME directory available')
  return { directory: `https://localhost:${port}/dir`, ca: api.tlsCert, challengePort, names }
}

/** One that this process trusts from now on. */
export async function startTrustedPebble(t: Test, options?: { resolver?: Pebble }): Promise<Pebble> {
  const pebble = await startPebble(t, options)
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(pebble.ca, 'utf8')])
  return pebble
}

/** Every name is this computer; tests add text records at `management`. */
async function startNameServer(t: Test): Promise<Pebble['names']> {
  const [dns, management] = [await portToKeep(), await portToKeep()]
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', '']
  const args = [...off, '-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${management}`]
  await run(t, 'pebble-challtestsrv', args, 'Starting management server')
  return { server: `127.0.0.1:${dns}`, management: `http://127.0.0.1:${management}` }
}

/** Runs it until the test ends; resolves once its output contains `ready`. */
async function run(t: Test, name: string, args: string[], ready: string): Promise<void> {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' } })
  t.teardown(() => child.kill('SIGKILL'))
  const isReady = Promise.withResolvers<void>()
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', text => {
      said += text
      if (said.includes(ready)) isReady.resolve()
    })
  }
  child.once('close', () => isReady.reject(new Error(`${name} ended: ${said}`)))
  await isReady.promise
}
