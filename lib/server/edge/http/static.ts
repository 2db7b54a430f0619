import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants } from 'node:zlib'
import { listAssets, readAsset } from '../../../assets.ts'
import type { InFlight } from '../listen/in-flight.ts'
import { pathOf } from '../listen/routes.ts'
import { type AnswerSender, Client, mostAtOnce, sendPieces } from './answer-sender.ts'

interface StaticFiles {
  /** True if the path is the app's and was answered. */
  serve(response: HttpResponse, request: HttpRequest): boolean
}

/** The bytes of a file as they are sent; each form has a tag of its own. */
interface Form {
  bytes: Buffer
  tag: string
}

interface File {
  plain: Form
  brotli: Form | undefined
  type: string
  cache: string
  isPage: boolean
}

interface StaticFilesDeps {
  secure: boolean
  /** The files are read again at every request, and the page is told. */
  dev: boolean
  inFlight: Pick<InFlight, 'begin'>
  answerSender: AnswerSender
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  webmanifest: 'application/manifest+json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  txt: 'text/plain; charset=utf-8'
}

/** The app, read at first use. Every path that a person may open cold and that is not a file shows its one page. */
export function createStaticFiles({ secure, dev, inFlight, answerSender }: StaticFilesDeps): StaticFiles {
  const read = () => new Set(listAssets('web/'))
  const atStart = dev ? undefined : read()
  const fileByName = new Map<string, File>()

  function find(path: string, wantsPage: boolean): File | undefined {
    const name = `web${path}`
    const names = atStart ?? read()
    if (names.has(name)) return load(name)
    return wantsPage && names.has('web/index.html') ? load('web/index.html') : undefined
  }

  function load(name: string): File | undefined {
    const known = fileByName.get(name)
    if (known) return known
    const bytes = readAsset(name)
    if (!bytes) return undefined
    if (dev) return describeForWork(name, bytes)
    const file = describe(name, bytes)
    fileByName.set(name, file)
    return file
  }

  return {
    serve(response, request) {
      const method = request.getCaseSensitiveMethod()
      if (method !== 'GET' && method !== 'HEAD') return false
      const url = pathOf(request)
      const path = url === '/' ? '/index.html' : url
      const file = find(path, request.getHeader('accept').includes('text/html') && !/^\/v\d+\//.test(path))
      if (!file) return false
      const form = (request.getHeader('accept-encoding').includes('br') && file.brotli) || file.plain
      const isKnown = names(request.getHeader('if-none-match'), form.tag) && answerSender.mayOmitBody()
      send(response, file, { form, isKnown, headOnly: method === 'HEAD' })
      return true
    }
  }

  function send(response: HttpResponse, file: File, how: { form: Form; isKnown: boolean; headOnly: boolean }): void {
    const body = how.form.bytes
    const writeHead = () => {
      response.writeStatus(how.isKnown ? '304 Not Modified' : '200 OK')
      for (const [name, value] of headersOf(file, how.form, secure)) response.writeHeader(name, value)
      if (how.form === file.brotli && !how.isKnown) response.writeHeader('content-encoding', 'br')
    }
    const client = new Client()
    response.onAborted(() => client.left())
    if (how.isKnown) {
      answerSender.sendAsIs(response, client, () => {
        writeHead()
        response.endWithoutBody()
      })
    } else if (how.headOnly) answerSender.sendHead(response, client, { writeHead, length: body.length })
    else if (body.length > mostAtOnce) sendLarge(response, client, body, writeHead)
    else answerSender.send(response, client, { writeHead, body })
  }

  // The bytes are in memory once, however many clients read them and however slowly.
  async function sendLarge(response: HttpResponse, client: Client, body: Buffer, writeHead: () => void): Promise<void> {
    const leave = inFlight.begin()
    await sendPieces(response, client, { total: body.length, next: at => body.subarray(at), writeHead })
    leave()
  }
}

function describe(name: string, bytes: Buffer): File {
  const type = types[name.split('.').pop() ?? ''] ?? 'application/octet-stream'
  const isText = /^text|json|svg/.test(type)
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const pack = () => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
  return {
    plain: { bytes, tag: `"${hash}"` },
    brotli: isText ? { bytes: pack(), tag: `"${hash}-br"` } : undefined,
    type,
    // A name with a content hash never changes; everything else is revalidated.
    cache: /[-.][A-Z0-9]{8}\.\w+$/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    isPage: type.startsWith('text/html')
  }
}

/** The app checks for the mark, see `web/core/dev.ts`. */
function describeForWork(name: string, bytes: Buffer): File {
  const inPlace: Record<string, () => string> = {
    'web/index.html': () => bytes.toString().replace('<head>', '<head>\n<meta name="afield-dev">'),
    'web/worker.js': () => leavingWorker
  }
  const text = inPlace[name]?.()
  return { ...describe(name, text === undefined ? bytes : Buffer.from(text)), cache: 'no-store' }
}

/** In place of an old service worker, which would continue to show its cache. */
const leavingWorker = `self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', event => event.waitUntil(leave()))
async function leave() {
  await self.registration.unregister()
  for (const client of await self.clients.matchAll({ type: 'window' })) await client.navigate(client.url)
}
`

/** Of every file, so that no page shows one in a frame [H7]. */
const inNoFrame = "frame-ancestors 'none'"

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  inNoFrame,
  "require-trusted-types-for 'script'"
].join('; ')

/** Whether a list of tags has this one; a proxy that packs an answer makes its tag a weak one. */
function names(list: string, tag: string): boolean {
  return list.split(',').some(each => each.trim().replace(/^W\//, '') === tag)
}

function headersOf(file: File, form: Form, secure: boolean): [string, string][] {
  return [
    ['content-type', file.type],
    ['cache-control', file.cache],
    ['etag', form.tag],
    ['vary', file.isPage ? 'accept, accept-encoding' : 'accept-encoding'],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ...(secure ? ([['strict-transport-security', 'max-age=31536000']] as [string, string][]) : []),
    ['content-security-policy', file.isPage ? contentPolicy : inNoFrame],
    ...(file.isPage ? ([['permissions-policy', 'camera=(self), microphone=(), geolocation=()']] as [string, string][]) : [])
  ]
}
