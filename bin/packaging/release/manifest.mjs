import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import * as v from '../../../lib/schema.ts'
import { compareVersions, releaseManifest } from '../../../lib/upgrade/manifest.ts'
import { sha256Of } from './checksums.mjs'

const dayMs = 24 * 60 * 60 * 1000

/** `latest.json`, which `afield upgrade` reads. `programs` are files with their platform. */
export function latestJson({ version, seconds, validDays, programs }) {
  const createdMs = seconds * 1000
  return v.parse(releaseManifest, {
    version,
    createdAt: new Date(createdMs).toISOString(),
    expiresAt: new Date(createdMs + validDays * dayMs).toISOString(),
    files: programs.map(({ file, platform }) => ({ name: basename(file), platform, size: statSync(file).size, sha256: sha256Of(file) }))
  })
}

/** Whoever has the earlier release would not upgrade to this one. */
export function refuseToGoBack(version, previous) {
  if (!existsSync(previous)) return
  const { version: released } = v.parse(releaseManifest, JSON.parse(readFileSync(previous, 'utf8')))
  if (compareVersions(version, released) > 0) return
  throw new Error(
    `${previous} is of version ${released}, and this is ${version}: a release needs a higher version in package.json. To make the same one again, name another folder with --out.`
  )
}
