import { execFileSync } from 'node:child_process'
import { utimesSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathOf } from '../target.mjs'

/** Compresses a program for its system, the same bytes each time, and returns the new file. */
export function compress(file, { platform, name }, seconds) {
  if (platform === 'win32') return zip(file, `${file.replace(/\.exe$/, '')}.zip`, seconds)
  // Half of the work of -9 for nearly its size. One thread, since the number of threads changes the result.
  const filters = name === 'linux-x64' ? ['--x86', '--lzma2=preset=6'] : ['-6']
  execFileSync('xz', ['--threads=1', '--keep', '--force', ...filters, file], { stdio: 'inherit' })
  return `${file}.xz`
}

function zip(file, archive, seconds) {
  utimesSync(file, seconds, seconds)
  const words = ['-q', '-X', '-9', basename(archive), basename(file)]
  execFileSync('zip', words, { cwd: dirname(file), stdio: 'inherit', env: { ...process.env, TZ: 'UTC' } })
  return archive
}

export function refuseWithoutArchivers() {
  for (const program of ['xz', 'zip', 'tar']) {
    if (!pathOf(program)) throw new Error(`${program} is missing, which compresses a release. On Debian: apt-get install xz-utils zip tar.`)
  }
}
