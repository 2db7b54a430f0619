import { createReadStream, readFileSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fetch } from 'undici'
import { readAsset } from '../assets.ts'
import { CannotStart } from '../exit.ts'
import * as v from '../schema.ts'
import { manifestName, type ReleaseFile, type ReleaseManifest, releaseManifest, signatureName, thisPlatform } from './manifest.ts'
import { verifyMinisign } from './minisign.ts'

/** A release whose manifest was signed with the release key and has not expired. */
export interface Release {
  version: string
  file: ReleaseFile
  /** The bytes of that file, unchecked. */
  bytes(signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

interface ReleaseAsk {
  /** A folder, a program in it, or the http address of such a folder. */
  source: string
  /** Public keys in the format of minisign. */
  keys: string
  now: number
}

/** The public key that this build was made with. Throws `CannotStart` if it has none. */
export function ownReleaseKey(): string {
  const key = readAsset('release-key.pub')?.toString()
  if (key !== undefined) return key
  throw new CannotStart(
    'This build has no release key, so it cannot check a new version: stop the server, replace the file yourself, and start it again.'
  )
}

/** Reads what is offered there, and checks it. Throws `CannotStart` with the reason if it must not be installed. */
export async function openRelease({ source, keys, now }: ReleaseAsk): Promise<Release> {
  const place = /^https?:/i.test(source) ? placeAt(source) : placeIn(source)
  const content = await place.small(manifestName, mostManifestBytes)
  const signature = (await place.small(signatureName, mostSignatureBytes)).toString()
  const verdict = verifyMinisign({ keys, content, signature })
  if (verdict === 'unknown-key')
    throw new CannotStart(`${place.name} is signed with another key than the releases of this program. Nothing was changed.`)
  if (verdict === 'invalid') throw new CannotStart(`The signature of ${manifestName} in ${place.name} is not valid. Nothing was changed.`)
  const manifest = parseManifest(content)
  if (Date.parse(manifest.expiresAt) <= now) {
    throw new CannotStart(
      `The release in ${place.name} expired on ${manifest.expiresAt.slice(0, 10)}: get it again from where it is published, or check the clock of this computer.`
    )
  }
  const file = manifest.files.find(({ platform }) => platform === thisPlatform())
  if (!file) throw new CannotStart(`Version ${manifest.version} in ${place.name} has no program for ${thisPlatform()}.`)
  return { version: manifest.version, file, bytes: signal => place.large(file.name, signal) }
}

const mostManifestBytes = 256 * 1024
const mostSignatureBytes = 4 * 1024

interface Place {
  /** Without secrets. */
  name: string
  small(name: string, mostBytes: number): Promise<Buffer>
  large(name: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

function placeIn(source: string): Place {
  const path = resolve(source)
  const stats = statsOf(path)
  const folder = stats.isDirectory() ? path : dirname(path)
  // A program may have been renamed; its digest decides.
  const program = stats.isDirectory() || basename(path).startsWith(manifestName) ? undefined : path
  return {
    name: folder,
    async small(name, mostBytes) {
      const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size
      if (size === undefined) throw missing(name, folder)
      if (size > mostBytes) throw new CannotStart(`${join(folder, name)} is too large.`)
      return readFileSync(join(folder, name))
    },
    async large(name) {
      const file = program ?? join(folder, name)
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw missing(name, folder)
      return createReadStream(file, { highWaterMark: 1024 * 1024 })
    }
  }
}

function statsOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read by this user'
    throw new CannotStart(`${path} ${why}.`, undefined, { cause: error })
  }
}

function placeAt(source: string): Place {
  const base = baseOf(source)
  const get = async (name: string, signal?: AbortSignal) => {
    const url = new URL(name, base)
    const answer = await fetch(url, { ...(signal && { signal }) }).catch((error: Error) => {
      signal?.throwIfAborted()
      throw new CannotStart(`${url} cannot be reached (${codeIn(error)}).`, undefined, { cause: error })
    })
    if (answer.status === 404) throw missing(name, base.href)
    if (!answer.ok || !answer.body) throw new CannotStart(`${url} answered ${answer.status}.`)
    return answer.body as AsyncIterable<Uint8Array>
  }
  return {
    name: base.href,
    async small(name, mostBytes) {
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of await get(name)) {
        bytes += chunk.length
        if (bytes > mostBytes) throw new CannotStart(`${new URL(name, base)} is too large.`)
        chunks.push(chunk)
      }
      return Buffer.concat(chunks)
    },
    large: get
  }
}

function baseOf(source: string): URL {
  const url = URL.parse(source)
  if (!url) throw new CannotStart(`${source} is not an address.`)
  if (url.username !== '' || url.password !== '' || url.search !== '')
    throw new CannotStart('The address must have no user name, no password and no "?": they would end up in logs.')
  url.hash = ''
  if (url.pathname.endsWith(`/${manifestName}`)) return new URL('.', url)
  return url.pathname.endsWith('/') ? url : new URL(`${url.href}/`)
}

function missing(name: string, place: string): CannotStart {
  return new CannotStart(
    `There is no ${name} in ${place}: an upgrade needs the program, ${manifestName} and ${signatureName} of a release together.`
  )
}

function parseManifest(content: Buffer): ReleaseManifest {
  try {
    return v.parse(releaseManifest, JSON.parse(content.toString()))
  } catch (error) {
    throw new CannotStart(`${manifestName} is signed, but this version cannot read it: install the new version by hand.`, undefined, {
      cause: error
    })
  }
}

function codeIn({ message, cause }: Error): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : message
}
