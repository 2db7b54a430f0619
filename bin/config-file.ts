import { readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { CannotStart } from '../lib/exit.ts'
import { type ConfigFile, optionRows, shownValue } from '../lib/options.ts'
import { nearest } from './nearest.ts'

/**
 * The options in a file, by the names of their flags: JSON if its name ends in `.json`, otherwise TOML. Throws CannotStart, in one
 * sentence, if it cannot be read or names something that is no option.
 */
export function readConfigFile(path: string): ConfigFile {
  const rows = optionRows()
  const values = new Map(Object.entries(parsed(path)))
  for (const name of values.keys()) {
    if (rows.some(({ flag }) => flag === name)) continue
    const meant = nearest(
      name,
      rows.map(({ flag }) => flag)
    )
    throw new CannotStart(`${path} names ${name}, which is no option.${meant === undefined ? '' : ` Did you mean ${meant}?`}`)
  }
  for (const { flag, isPath } of rows) {
    const value = values.get(flag)
    if (isPath && typeof value === 'string') values.set(flag, resolve(dirname(path), value))
  }
  return { name: path, values }
}

/** A warning if others on this computer can read a secret in the file. */
export function openSecret({ name, values }: ConfigFile): string | undefined {
  const secret = optionRows().find(row => shownValue(row, values.get(row.flag)) !== values.get(row.flag))
  if (!secret || process.platform === 'win32' || !isOpen(statSync(name))) return undefined
  return `Others on this computer can read ${name}, which contains ${secret.flag}. Run: chmod o-r,g-r ${name}`
}

// One of root's for the group of a service is how systems are set up.
function isOpen({ mode, uid }: Stats): boolean {
  return (mode & (uid === 0 ? 0o004 : 0o044)) !== 0
}

function parsed(path: string): Record<string, unknown> {
  const text = readText(path)
  try {
    const value: unknown = extname(path) === '.json' ? JSON.parse(text) : parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    // The rest of its message quotes the file, which may hold secrets.
    const where = error instanceof TomlError ? ` in line ${error.line}` : ''
    throw new CannotStart(`${path} is not valid ${extname(path) === '.json' ? 'JSON' : 'TOML'}${where}.`, undefined, { cause: error })
  }
  throw new CannotStart(`${path} must be an object with one member for each option.`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read by this user'
    throw new CannotStart(`The configuration file ${path} ${why}.`, undefined, { cause: error })
  }
}
