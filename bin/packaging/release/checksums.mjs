import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative, sep } from 'node:path'

export function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** The text that `sha256sum --check` reads in that folder. */
export function checksumsOf(folder, files) {
  const lines = files.map(file => `${sha256Of(file)}  ${relative(folder, file).split(sep).join('/')}\n`)
  return lines.toSorted((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1)).join('')
}
