import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import type { Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { writeCertificate } from './certificate.ts'
import { lacksIpv6, pathOf } from './needs.ts'
import { portToKeep } from './port.ts'

export type ProxyName = 'nginx' | 'caddy' | 'haproxy'

/** A real reverse proxy with TLS, configured as docs/proxies.md says. */
export interface ReverseProxy {
  /** Such as `https://localhost:12345`. */
  url: string
  /** Without TLS, which leads to the other one. */
  plainUrl: string
  /** The file of an authority that its certificate comes from, for `NODE_EXTRA_CA_CERTS`. */
  authority: string
  /** Identifies the key of its certificate, for Chromium. */
  keyHash: string
}

/** Its recipe in docs/proxies.md. */
export function recipeOf(name: ProxyName): string {
  const fence = { nginx: 'nginx', caddy: 'caddyfile', haproxy: 'haproxy' }[name]
  const [, recipe] = readPage().match(new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\``, 'ms')) ?? []
  if (recipe === undefined) throw new Error(`docs/proxies.md has no recipe for ${name}.`)
  return recipe
}

/** The recipe with the line of the page that makes it connect to a Unix socket. */
export function overSocket(name: ProxyName, socket: string): (recipe: string) => string {
  const [, line = ''] = readPage().match(new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'im')) ?? []
  const [directive = ''] = /^\w+/.exec(line) ?? []
  const own = line.replace('/run/afield/afield.sock', socket)
  return recipe => recipe.replace(new RegExp(`^(\\s*)${directive} .*`, 'm'), (_, indent) => indent + own)
}

/**
 * Runs the recipe in front of the server on `serverPort`, until the test ends. Only host names, ports and paths are
 * replaced; `change` breaks it, to see what then becomes of it.
 */
export async function startReverseProxy(
  t: Pick<Test, 'teardown'>,
  name: ProxyName,
  { serverPort, port, change = recipe => recipe }: { serverPort: number; port?: number; change?(recipe: string): string }
): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'afield-proxy-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const tlsKey = join(folder, 'key.pem')
  const tlsCert = join(folder, 'cert.pem')
  writeCertificate({ tlsKey, tlsCert })
  const both = join(folder, 'both.pem')
  writeFileSync(both, readFileSync(tlsCert, 'utf8') + readFileSync(tlsKey, 'utf8'))
  const own = { https: port ?? (await portToKeep()), http: await portToKeep() }
  const recipe = change(recipeOf(name))
    .replace(/^.*\[::\].*\n/gm, line => (lacksIpv6() ? '' : line))
    .replace(/\/etc\/\S+fullchain\.pem/g, tlsCert)
    .replace(/\/etc\/\S+privkey\.pem/g, tlsKey)
    .replace(/\/etc\/haproxy\/afield\.pem/g, both)
    .replaceAll('127.0.0.1:3005', `127.0.0.1:${serverPort}`)
    .replace(/^afield\.example\.net/m, name === 'caddy' ? `localhost:${own.https}` : '$&')
    .replaceAll('afield.example.net', 'localhost')
    .replace(/(listen |:)443\b/g, `$1${own.https}`)
    .replace(/(listen |:)80\b/g, `$1${own.http}`)
  const file = join(folder, 'proxy.conf')
  writeFileSync(file, around[name](recipe, folder, own))
  const child = spawn(pathOf(name) ?? name, argumentsOf[name](file), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  })
  t.teardown(() => end(child))
  const authority = name === 'caddy' ? join(folder, 'caddy/pki/authorities/local/root.crt') : tlsCert
  return {
    url: `https://localhost:${own.https}`,
    plainUrl: `http://localhost:${own.http}`,
    authority,
    keyHash: await listening(child, own.https)
  }
}

function readPage(): string {
  return readFileSync(join(import.meta.dirname, '../../docs/proxies.md'), 'utf8')
}

/** What the rest of the proxy's configuration says on a real computer. */
const around: Record<ProxyName, (recipe: string, folder: string, own: { http: number; https: number }) => string> = {
  nginx: (recipe, folder) => `
    daemon off; pid ${folder}/pid; error_log stderr; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
      ${recipe}
    }`,
  // The certificate comes from its own authority, as for any local name.
  caddy: (recipe, _, { http, https }) => `{
    admin off
    skip_install_trust
    http_port ${http}
    https_port ${https}
  }
  ${recipe}`,
  haproxy: recipe => recipe
}

const argumentsOf: Record<ProxyName, (file: string) => string[]> = {
  nginx: file => ['-c', file, '-e', 'stderr'],
  caddy: file => ['run', '--adapter', 'caddyfile', '--config', file],
  haproxy: file => ['-db', '-f', file]
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  // nginx has processes of its own, which it ends itself; Caddy would wait for its connections.
  child.kill(child.spawnfile.endsWith('nginx') ? 'SIGTERM' : 'SIGKILL')
  await ended
}

/** Waits for its port. Resolves to the hash of the key it shows there. */
async function listening(child: ChildProcess, port: number): Promise<string> {
  const complaints = child.stderr ? text(child.stderr) : ''
  for (;;) {
    const key = await keyAt(port)
    if (key) return createHash('sha256').update(key).digest('base64')
    if (child.exitCode !== null) throw new Error(`The proxy has ended: ${await complaints}`)
    await pause(20)
  }
}

function keyAt(port: number): Promise<Buffer | undefined> {
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false })
  return new Promise(resolve => {
    socket.once('error', () => resolve(undefined))
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate()
      socket.destroy()
      resolve(new X509Certificate(raw).publicKey.export({ type: 'spki', format: 'der' }))
    })
  })
}
