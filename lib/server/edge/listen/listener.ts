import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../../async/clock.ts'
import { CannotStart } from '../../../exit.ts'
import type { ServerOptions } from '../../../options.ts'
import { type Logger, noteOf } from '../../watch/log.ts'
import { watchFiles } from './files-watch.ts'
import { listenRefusal } from './listen-refusal.ts'
import { mountOn } from './mount.ts'
import type { Routes } from './routes.ts'
import { type UnixSocket, unixSocketAt } from './unix-socket.ts'
import { loadUws } from './uws.ts'

/** Where the routes are served. */
interface Listener {
  secure: boolean
  /** Installs the routes there and listens. Throws CannotStart if it cannot. */
  open(serveOn: (app: Routes) => void): Promise<Listening>
  close(): void
}

interface Listening {
  /** 0 on a Unix socket. */
  port: number
  /** Accepts no new connections; open ones continue. */
  stopListening(): void
}

type ListenerOptions = Pick<ServerOptions, 'host' | 'port' | 'socket' | 'socketMode' | 'tlsCert' | 'tlsKey'>

/** On an app whose owner listens. */
export function sharedListener(app: Routes, { port, publicUrl }: Pick<ServerOptions, 'port' | 'publicUrl'>): Listener {
  const { routes, remove } = mountOn(app)
  return {
    secure: publicUrl?.startsWith('https:') === true,
    async open(serveOn) {
      serveOn(routes)
      return { port, stopListening() {} }
    },
    close: remove
  }
}

/** On our own port. A new certificate in the files is loaded within seconds. */
export function ownListener(options: ListenerOptions, { clock, log }: { clock: Clock; log: Logger }): Listener {
  const uws = loadUws()
  const apps: TemplatedApp[] = []
  let stopWatching = () => {}

  async function open(serveOn: (app: Routes) => void): Promise<Listening> {
    const openApp = () => {
      const app = newApp(options)
      apps.push(app)
      serveOn(app)
      return app
    }
    const first = openApp()
    if (options.socket !== undefined) return listenAt(first, await unixSocketAt(options.socket, options.socketMode))
    const port = await freePort(options)
    let listening = await listen(first, { ...options, port }, sharedPort)

    // Connections stay with the app that accepted them, and with its old certificate; new ones come to the
    // new app.
    async function renew(): Promise<void> {
      const next = await listen(openApp(), { ...options, port }, sharedPort)
      uws.us_listen_socket_close(listening)
      listening = next
      log.info({ port }, 'Loaded a new certificate')
    }
    const files = [options.tlsCert, options.tlsKey].filter(file => file !== undefined)
    const onChange = () => {
      renew().catch(error => log.error({ error: noteOf(error) }, 'The new certificate cannot be used; the old one stays in use'))
    }
    if (files.length > 0) stopWatching = watchFiles(files, clock, onChange).close
    return {
      port,
      stopListening() {
        stopWatching()
        uws.us_listen_socket_close(listening)
      }
    }
  }

  return {
    secure: options.tlsCert !== undefined,
    open,
    close() {
      stopWatching()
      for (const app of apps) app.close()
    }
  }
}

function listenAt(app: TemplatedApp, socket: UnixSocket): Promise<Listening> {
  const { promise, resolve } = Promise.withResolvers<Listening>()
  app.listen_unix(listening => {
    socket.opened()
    resolve({
      port: 0,
      stopListening() {
        loadUws().us_listen_socket_close(listening)
        socket.remove()
      }
    })
  }, socket.path)
  return promise
}

/** For TLS 1.2, whose older ones lack forward secrecy or authenticated encryption; those of 1.3 are fixed. */
const ciphers = 'ECDHE+AESGCM:ECDHE+CHACHA20'

function newApp({ tlsCert, tlsKey }: ListenerOptions): TemplatedApp {
  const uws = loadUws()
  if (tlsCert === undefined || tlsKey === undefined) return uws.App()
  refuseUnfit(tlsCert, tlsKey)
  try {
    return uws.SSLApp({ cert_file_name: tlsCert, key_file_name: tlsKey, ssl_ciphers: ciphers })
  } catch (error) {
    throw new CannotStart(`The certificate ${tlsCert} with the key ${tlsKey} cannot be used.`, undefined, { cause: error })
  }
}

/** uWebSockets.js only says that one of the two is invalid. */
function refuseUnfit(certFile: string, keyFile: string): void {
  const certificate = read('certificate', '--tls-cert', certFile, pem => new X509Certificate(pem))
  const key = read('key', '--tls-key', keyFile, createPrivateKey)
  if (!certificate.checkPrivateKey(key)) throw new CannotStart(`The key ${keyFile} does not belong to the certificate ${certFile}.`)
}

function read<What>(what: 'certificate' | 'key', flag: string, file: string, parse: (pem: Buffer) => What): What {
  let pem: Buffer
  try {
    pem = readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CannotStart(`The ${what} ${file} cannot be read (${code}); see ${flag}.`, undefined, { cause: error })
  }
  try {
    return parse(pem)
  } catch (error) {
    // Nothing of a key may appear in an error.
    throw new CannotStart(
      `${file} contains no ${what} in PEM format${what === 'key' ? ' without a passphrase' : ''}; see ${flag}.`,
      undefined,
      { cause: error }
    )
  }
}

/**
 * The port, once it is known to be free: with `sharedPort` a second server would silently listen there too.
 * A new certificate needs that option, because its app has to listen before the old one stops.
 */
async function freePort(options: ListenerOptions): Promise<number> {
  const uws = loadUws()
  const probe = uws.App()
  const listening = await listen(probe, options, exclusivePort)
  const port = uws.us_socket_local_port(listening)
  uws.us_listen_socket_close(listening)
  probe.close()
  return port
}

const sharedPort = 0
const exclusivePort = 1
/** The published types have the option only without a host. */
type ListenWith = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void

function listen(app: TemplatedApp, { host, port }: ListenerOptions, sharing: number): Promise<us_listen_socket> {
  const { promise, resolve, reject } = Promise.withResolvers<us_listen_socket>()
  const listenWith = app.listen.bind(app) as unknown as ListenWith
  listenWith(host, port, sharing, socket => {
    if (socket) resolve(socket)
    else listenRefusal(host, port).then(sentence => reject(new CannotStart(sentence)), reject)
  })
  return promise
}
