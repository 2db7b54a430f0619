import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { helpCommand } from '../../help-pages.ts'
import { isLoopback, type ServerOptions } from '../../options.ts'
import type { Logger } from '../watch/log.ts'
import { CertificateFile } from './certificate-file.ts'
import type { Certificates } from './certificates.ts'
import { CertificateRenewal, type Source } from './renewal.ts'
import { lookAtTailscale, tailscaleSource } from './tailscale.ts'
import { chooseWay, letsEncrypt } from './way.ts'

/** What `--https auto` found. */
interface Https {
  /** In place of those that were given. */
  options: Partial<Pick<ServerOptions, 'host' | 'publicUrl' | 'tlsCert' | 'tlsKey'>>
  /** Gets a certificate if there is none yet, and from then on in time. */
  start(): void
  close(): Promise<void>
}

interface HttpsDeps {
  certificates: Certificates
  clock: Clock
  now: () => number
  log: Logger
  tell: (sentence: string) => void
}

type HttpsOptions = Pick<
  ServerOptions,
  'host' | 'port' | 'data' | 'publicUrl' | 'insecureHttp' | 'tlsCert' | 'httpsDirectory' | 'httpsChallengePort' | 'httpsDnsHook'
>

/** Looks at what this host can do, says it, and returns options with which the server can listen at once. */
export async function openHttps(options: HttpsOptions, deps: HttpsDeps): Promise<Https> {
  const { tell } = deps
  const way = await chooseWay(options, () => lookAtTailscale())
  const folder = join(options.data, 'https')
  switch (way.type) {
    case 'files':
      tell(`HTTPS: with the certificate in ${options.tlsCert}, which is loaded again whenever it changes.`)
      return { options: {}, start() {}, close: async () => {} }
    case 'none':
      tell(recipes(way.findings, options))
      return { options: isLoopback(options.host) || options.insecureHttp ? {} : { host: '127.0.0.1' }, start() {}, close: async () => {} }
    case 'tailscale':
      tell(`HTTPS: Tailscale is logged in on this computer and gets the certificate for ${way.name}.`)
      return keep(tailscaleSource(way.name), folder, options, deps)
    case 'acme':
      tell(aboutOrder(way.name, options))
      return keep(acmeSource(way.name, folder, options, deps.certificates), folder, options, deps)
  }
}

async function keep(source: Source, folder: string, { port, publicUrl }: HttpsOptions, deps: HttpsDeps): Promise<Https> {
  const file = new CertificateFile(folder, source.name)
  if (!file.validity()) {
    file.replace(await deps.certificates.placeholder(source.name))
    deps.tell('Until the certificate is here, the server uses one that phones and programs refuse.')
  }
  let renewal: CertificateRenewal | undefined
  return {
    options: { publicUrl: publicUrl ?? `https://${source.name}:${port}`, tlsCert: file.path, tlsKey: file.path },
    start() {
      renewal = new CertificateRenewal(source, file, deps)
    },
    close: async () => renewal?.close()
  }
}

/** Let's Encrypt's own directory for trials: a mistake there does not use up the limits of the other. */
const letsEncryptTrial = 'https://acme-staging-v02.api.letsencrypt.org/directory'

function acmeSource(
  name: string,
  folder: string,
  { httpsDirectory, httpsChallengePort, httpsDnsHook }: HttpsOptions,
  certificates: Certificates
): Source {
  const trialDirectory = httpsDirectory === letsEncrypt ? letsEncryptTrial : undefined
  const challenge =
    httpsDnsHook === undefined
      ? ({ type: 'http-01', port: httpsChallengePort } as const)
      : ({ type: 'dns-01', hook: httpsDnsHook } as const)
  const order = { name, directory: httpsDirectory, folder, challenge }
  return {
    name,
    authority: authorityAt(httpsDirectory),
    obtain: (isTried, signal) => certificates.order({ ...order, ...(!isTried && { trialDirectory }) }, signal)
  }
}

function authorityAt(directory: string): string {
  return directory === letsEncrypt ? "Let's Encrypt" : new URL(directory).host
}

function aboutOrder(name: string, { httpsDirectory, httpsChallengePort, httpsDnsHook }: HttpsOptions): string {
  const check =
    httpsDnsHook === undefined
      ? `It asks port 80 of ${name}, which must reach port ${httpsChallengePort} of this computer.`
      : `It looks up a DNS record, which ${httpsDnsHook} adds.`
  const trial = httpsDirectory === letsEncrypt ? ' A first order is tried at its staging directory before the real one.' : ''
  return `HTTPS: ${authorityAt(httpsDirectory)} issues the certificate for ${name}, and you accept its terms by this. ${check}${trial}`
}

function recipes(findings: readonly string[], { port }: Pick<ServerOptions, 'port'>): string {
  return `HTTPS: found no way to a certificate, so only this computer can reach the server.
${findings.map(finding => `  - ${finding}`).join('\n')}
Ways to reach it from a phone, each explained by ${helpCommand('https')}:
  - A domain of your own: --https auto --public-url https://afield.example.net:${port}
  - Tailscale on this computer and the phone: log in, enable HTTPS certificates, start again
  - No domain, for a try: --tunnel cloudflared
  - Own certificate files: --tls-cert and --tls-key
  - A reverse proxy that provides HTTPS: --public-url https://afield.example.net --trust-proxy loopback`
}
