import { helpCommand } from '../help-pages.ts'
import { mostAttachmentBytes } from '../protocol/wire/routes/attachments.ts'
import * as v from '../schema.ts'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const waitMs = 8_000
/** Where a person finds what to write for their proxy. */
export const recipes = () => `complete recipes: ${helpCommand('proxies')}`

/** For documentation only: no client has it. */
const nobody = '192.0.2.1'
const elsewhere = 'https://afield-doctor.invalid'

const health = v.object({
  received: v.object({
    url: v.string(),
    origin: v.string(),
    forwarded: v.picklist(['no', 'untrusted', 'trusted']),
    isClaimBelieved: v.boolean()
  })
})

/** What a reverse proxy in front of the server at this address loses, adds or rejects. */
export async function examineProxy(url: string): Promise<Finding[]> {
  const [headers, bodies] = await Promise.all([examineHeaders(url), examineBodies(url)])
  return [...headers, bodies]
}

/** Sends what a proxy has to pass on, and an address that it must not. */
async function examineHeaders(url: string): Promise<Finding[]> {
  const answer = await fetch(`${url}/health?claim=${nobody}`, {
    headers: { origin: elsewhere, 'x-forwarded-for': nobody },
    signal: AbortSignal.timeout(waitMs)
  })
  const { data } = v.safeParse(health, await answer.json())
  // An older server says nothing of it.
  if (!data) return []
  const { received } = data
  return [hostName(received.url, url), origin(received.origin), addresses(received)]
}

function hostName(seen: string, url: string): Finding {
  const of = 'host name'
  if (seen === url) return ok(of, 'reaches the server')
  return fail(
    of,
    `the server is asked for ${seen}, not for ${url}: files cannot be uploaded from all apps`,
    `Let the proxy pass the host name (nginx: proxy_set_header Host $http_host;); ${recipes()}`
  )
}

function origin(seen: string): Finding {
  const of = 'Origin header'
  if (seen === elsewhere) return ok(of, 'reaches the server')
  return fail(
    of,
    'the proxy removes or changes it, so the server cannot tell pages of other sites from the app',
    'Remove the line of the proxy that sets or clears Origin'
  )
}

function addresses({ forwarded, isClaimBelieved }: v.InferOutput<typeof health>['received']): Finding {
  const of = 'client addresses'
  if (forwarded === 'untrusted') {
    const says = 'the server does not trust the proxy, so all clients share the limits of one address'
    return warn(of, says, 'Start the server with --trust-proxy loopback, or with the address of the proxy')
  }
  const line = 'nginx: proxy_set_header X-Forwarded-For $remote_addr;'
  if (forwarded === 'no') {
    const says = 'the proxy does not report them, so all clients share the limits of one address'
    return warn(of, says, `Let it set the header X-Forwarded-For (${line}); ${recipes()}`)
  }
  if (!isClaimBelieved) return ok(of, 'are reported by the proxy')
  const says = 'clients can choose theirs: the proxy passes on what they write in X-Forwarded-For'
  return fail(of, says, `Let it replace that header (${line}); ${recipes()}`)
}

/** The server itself rejects this one, because it carries no token. */
async function examineBodies(url: string): Promise<Finding> {
  const of = 'uploads'
  const size = `${mostAttachmentBytes / 1024 / 1024} MiB`
  try {
    const answer = await fetch(`${url}/v1/sessions/doctor/attachments/doctor`, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(mostAttachmentBytes),
      signal: AbortSignal.timeout(waitMs)
    })
    const isOurs = answer.headers.get('content-type')?.includes('json') === true
    await answer.body?.cancel()
    if (isOurs) return ok(of, `files of ${size} pass`)
    return fail(
      of,
      `the proxy rejects files of ${size} (${answer.status})`,
      `Allow larger bodies (nginx: client_max_body_size 100m;); ${recipes()}`
    )
  } catch (error) {
    return warn(
      of,
      `files of ${size} do not pass (${codeOf(error)})`,
      `Check the limits and timeouts of the proxy for bodies; ${recipes()}`
    )
  }
}
