import t from 'tap'
import * as v from '../../lib/schema.ts'
import { compareVersions, releaseManifest } from '../../lib/upgrade/manifest.ts'

const file = { name: 'afield-0.2.0-linux-x64', platform: 'linux-x64', size: 1, sha256: 'a'.repeat(64) }
const whole = { version: '0.2.0', createdAt: '2030-01-01T00:00:00.000Z', expiresAt: '2030-07-01T00:00:00Z', files: [file] }

t.test('versions are compared as numbers, and a pre-release is earlier than its release', async t => {
  const rising = ['0.1.0', '0.1.9', '0.1.10', '0.2.0-rc.2', '0.2.0-rc.10', '0.2.0', '1.0.0']
  for (const [index, one] of rising.entries())
    for (const [otherIndex, other] of rising.entries())
      t.equal(Math.sign(compareVersions(one, other)), Math.sign(index - otherIndex), `${one} and ${other}`)
})

t.test('a manifest names files, never paths, and unknown fields of later versions are ignored', async t => {
  t.ok(v.safeParse(releaseManifest, { ...whole, later: true }).success)
  for (const wrong of [
    { ...whole, version: 'latest' },
    { ...whole, expiresAt: 'next year' },
    { ...whole, files: [{ ...file, name: '../afield' }] },
    { ...whole, files: [{ ...file, sha256: 'A' }] },
    { ...whole, files: [{ ...file, size: 0 }] },
    { ...whole, files: undefined }
  ])
    t.notOk(v.safeParse(releaseManifest, wrong).success, JSON.stringify(wrong))
})
