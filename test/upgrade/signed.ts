import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
// @ts-expect-error it has no types
import { binary } from '../../bin/packaging/packaging.mjs'
// @ts-expect-error it has no types
import { latestJson } from '../../bin/packaging/release/manifest.mjs'
// @ts-expect-error it has no types
import { sign } from '../../bin/packaging/release/signature.mjs'
// @ts-expect-error it has no types
import { thisMachine } from '../../bin/packaging/target.mjs'
import { thisPlatform } from '../../lib/upgrade/manifest.ts'

interface Built {
  /** Versions 0.1.0 and 0.2.0 of the same sources. */
  old: string
  newer: string
  /** The key that both have, and one that neither has. */
  key: string
  otherKey: string
}

/** Makes the single-file program in two versions, with a new key of minisign. `isKept`: takes those that are there. */
export async function buildPrograms(folder: string, isKept: boolean): Promise<Built> {
  const at = (name: string) => join(folder, name)
  const built = { old: at('afield-0.1.0'), newer: at('afield-0.2.0'), key: at('key'), otherKey: at('other-key') }
  if (isKept && Object.values(built).every(path => existsSync(path))) return built
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const key of [built.key, built.otherKey]) execFileSync('minisign', ['-G', '-W', '-s', key, '-p', `${key}.pub`])
  const releaseKey = readFileSync(`${built.key}.pub`, 'utf8')
  await binary(thisMachine, { executable: built.old, releaseKey, version: '0.1.0' })
  await binary(thisMachine, { executable: built.newer, releaseKey, version: '0.2.0' })
  return built
}

/** Writes the manifest of a release with that program beside it, signed as a real one. */
export function publishSigned(folder: string, { version, program, key }: { version: string; program: string; key: string }): void {
  const programs = [{ file: program, platform: thisPlatform() }]
  const manifest = latestJson({ version, seconds: Math.floor(Date.now() / 1000), validDays: 1, programs })
  const latest = join(folder, 'latest.json')
  writeFileSync(latest, JSON.stringify(manifest))
  sign(latest, { signKey: key, publicKey: readFileSync(`${key}.pub`, 'utf8'), comment: `Afield ${version}` })
}
