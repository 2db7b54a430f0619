import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { manifestName, signatureName, thisPlatform } from '../../lib/upgrade/manifest.ts'
import { openRelease, ownReleaseKey, type Release } from '../../lib/upgrade/release.ts'
import { now, publish, releaseKey } from './kit.ts'

const key = releaseKey()
const bytes = Buffer.from('the program of a release')
const parts = { version: '0.2.0', bytes, key }
const open = (source: string) => openRelease({ source, keys: key.pub, now })
const programIn = (folder: string) => join(folder, `afield-0.2.0-${thisPlatform()}`)
const refused = (message: RegExp) => ({ name: 'CannotStart', message })

t.test('a release is found by its folder, its manifest, its signature or its program, whatever that is called [V1]', async t => {
  const folder = publish(t.testdir(), parts)
  for (const source of [folder, join(folder, manifestName), join(folder, signatureName), programIn(folder)]) {
    const release = await open(source)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    t.match(release, { version: '0.2.0', file: { size: bytes.length, sha256, platform: thisPlatform() } }, source)
    t.same(await read(release), bytes, source)
  }
  renameSync(programIn(folder), join(folder, 'downloaded'))
  t.same(await read(await open(join(folder, 'downloaded'))), bytes)
  await t.rejects(read(await open(folder)), refused(/^There is no afield-0\.2\.0-\S+ in /))
})

t.test('a folder with the name of a program is not one', async t => {
  const folder = publish(t.testdir(), parts)
  rmSync(programIn(folder))
  mkdirSync(programIn(folder))
  await t.rejects(
    read(await open(folder)),
    refused(/^There is no afield-0\.2\.0-\S+ in .*: an upgrade needs the program, latest\.json and/)
  )
})

t.test('a release without its manifest or signature is incomplete', async t => {
  for (const name of [manifestName, signatureName]) {
    const folder = publish(join(t.testdir(), name), parts)
    rmSync(join(folder, name))
    await t.rejects(open(folder), {
      message: `There is no ${name} in ${folder}: an upgrade needs the program, latest.json and latest.json.minisig of a release together.`
    })
  }
})

t.test('a manifest of 256 KB and a signature of 4 KB are the largest [V1]', async t => {
  const padding = (size: number) => ({ manifest: { note: 'x'.repeat(size) } })
  const folder = publish(t.testdir(), parts)
  const rest = readFileSync(join(folder, manifestName)).length + ',"note":""'.length
  t.match(await open(publish(folder, { ...parts, ...padding(256 * 1024 - rest) })), { version: '0.2.0' })
  await t.rejects(open(publish(folder, { ...parts, ...padding(256 * 1024 - rest + 1) })), refused(/latest\.json is too large\.$/))
  publish(folder, parts)
  writeFileSync(join(folder, signatureName), 'x'.repeat(4 * 1024))
  await t.rejects(open(folder), refused(/is not valid/))
  writeFileSync(join(folder, signatureName), 'x'.repeat(4 * 1024 + 1))
  await t.rejects(open(folder), refused(/latest\.json\.minisig is too large\.$/))
})

t.test('a release expires at the moment that it names, not before [V1]', async t => {
  const place = t.testdir()
  const expiring = (at: number) => publish(place, { ...parts, manifest: { expiresAt: new Date(at).toISOString() } })
  t.match(await open(expiring(now + 1)), { version: '0.2.0' })
  const says = {
    message: `The release in ${place} expired on 2030-01-02: get it again from where it is published, or check the clock of this computer.`
  }
  await t.rejects(open(expiring(now)), says)
})

t.test('one of several programs is that of this platform, and without one the release is refused', async t => {
  const folder = publish(t.testdir(), parts)
  const [own] = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')).files
  const other = { ...own, platform: thisPlatform() === 'win-arm64' ? 'linux-x64' : 'win-arm64', name: 'other' }
  t.match(await open(publish(folder, { ...parts, manifest: { files: [other, own] } })), { file: own })
  await t.rejects(open(publish(folder, { ...parts, manifest: { files: [other] } })), {
    message: `Version 0.2.0 in ${folder} has no program for ${thisPlatform()}.`
  })
})

t.test('a release is refused if its key is another, it was changed after signing, or its format is newer [V1]', async t => {
  const folder = t.testdir()
  await t.rejects(
    open(publish(folder, { ...parts, key: releaseKey() })),
    refused(/is signed with another key than the releases of this program/)
  )
  publish(folder, parts)
  writeFileSync(join(folder, manifestName), `${readFileSync(join(folder, manifestName))} `)
  await t.rejects(open(folder), refused(/^The signature of latest\.json in .* is not valid\./))
  await t.rejects(
    open(publish(folder, { ...parts, manifest: { files: 'elsewhere' } })),
    refused(/is signed, but this version cannot read it/)
  )
})

t.test('a place that does not exist is told from one that may not be read', async t => {
  const missing = join(t.testdir(), 'missing')
  await t.rejects(open(missing), { message: `${missing} does not exist.` })
  const impossible = join(t.testdir(), 'a'.repeat(300))
  await t.rejects(open(impossible), { message: `${impossible} cannot be read by this user.`, cause: { code: 'ENAMETOOLONG' } })
})

t.test('a release is read from the address of its folder or its manifest [V1]', async t => {
  const { url, asked } = await serve(t, publish(t.testdir(), parts))
  for (const source of [
    `${url}/some/where`,
    `${url}/some/where/`,
    `${url}/some/where/latest.json`,
    `${url}/some/where#top`,
    url.replace('http', 'HTTP')
  ]) {
    asked.length = 0
    const folder = source.startsWith('HTTP') ? '' : '/some/where'
    t.same(await read(await open(source)), bytes, source)
    t.same(
      asked,
      [manifestName, signatureName, `afield-0.2.0-${thisPlatform()}`].map(name => `${folder}/${name}`),
      source
    )
  }
})

t.test('an address with secrets in it is refused before anything is asked', async t => {
  for (const source of ['http://ann@host/', 'http://:secret@host/', 'http://host/?token=secret']) {
    await t.rejects(open(source), refused(/must have no user name, no password and no "\?": they would end up in logs\.$/), source)
  }
  await t.rejects(open('http://'), { message: 'http:// is not an address.' })
})

t.test('an address without a release is reported with what it answered', async t => {
  const { url, answers, closed } = await serve(t, publish(t.testdir(), parts))
  answers.status = 404
  await t.rejects(open(url), {
    message: `There is no latest.json in ${url}/: an upgrade needs the program, latest.json and latest.json.minisig of a release together.`
  })
  answers.status = 503
  await t.rejects(open(url), { message: `${url}/latest.json answered 503.` })
  answers.status = 204
  await t.rejects(open(url), { message: `${url}/latest.json answered 204.` })
  answers.status = 200
  answers.padding = 256 * 1024
  await t.rejects(open(url), { message: `${url}/latest.json is too large.` })
  await closed()
  await t.rejects(open(url), {
    name: 'CannotStart',
    message: /^http\S+\/latest\.json cannot be reached \((?:ECONNREFUSED|UND_ERR_SOCKET)\)\.$/
  })
})

t.test('a download that is stopped before it is answered ends with the reason of whoever stopped it', async t => {
  const { url, answers } = await serve(t, publish(t.testdir(), parts))
  const release = await open(url)
  const stopping = new AbortController()
  answers.onAsked = () => stopping.abort(new Error('Stopped.'))
  await t.rejects(release.bytes(stopping.signal), { message: 'Stopped.' })
})

t.test('a program built without a release key says that it cannot upgrade itself', async t => {
  t.throws(() => ownReleaseKey(), refused(/^This build has no release key, so it cannot check a new version: stop the server, replace/))
})

async function read(release: Release): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await release.bytes()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

interface Answers {
  status: number
  /** Bytes before the content. */
  padding: number
  /** Called instead of answering. */
  onAsked?: () => void
}

/** Serves the files of a folder under any path; notes what is asked. */
async function serve(t: Test, folder: string) {
  const asked: string[] = []
  const answers: Answers = { status: 200, padding: 0 }
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (answers.onAsked) return answers.onAsked()
    const name = url.split('/').at(-1) ?? ''
    response.writeHead(readdirSync(folder).includes(name) ? answers.status : 404)
    if (answers.padding > 0) response.write(' '.repeat(answers.padding))
    response.end(answers.status === 200 ? readFileSync(join(folder, name)) : undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const closed = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  t.teardown(closed)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, answers, closed }
}
