import { mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import type { folderEntry } from '../../protocol/sealed/machine-calls.ts'
import { readPrivateFile } from '../private-files.ts'

/** Where the phone may begin sessions and look around: real folders below these. */
export interface AllowedFolders {
  readonly roots: readonly string[]
  /** The real path of a folder that is allowed, or would be once it is made. Throws, for the phone, when it is not. */
  check(path: string): string
}

const policyFile = z.looseObject({ folders: z.array(z.string().refine(isAbsolute, 'not an absolute path')).optional() })

/** What `policy.json` in the wrapper's home says; without it everything below the person's home. */
export function readAllowedFolders(home: string): AllowedFolders {
  const text = readPrivateFile(join(home, 'policy.json'))
  const { folders = [homedir()] } = text === undefined ? {} : policyFile.parse(JSON.parse(text))
  const roots = folders.map(real)
  const forbidden = real(home)
  return {
    roots,
    check(path) {
      const asked = real(resolve(homedir(), path.replace(/^~(?=$|[\\/])/, homedir())))
      if (isWithin(asked, forbidden)) throw new Error('The folder of Afield itself is not for agents.')
      if (roots.some(root => isWithin(asked, root))) return asked
      throw new Error(`The folder ${path} is not on this computer's list of allowed ones.`)
    }
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true })
}

/** Folders first, then by name; what cannot be looked at is left out. */
export function listFolder(path: string): z.infer<typeof folderEntry>[] {
  const entries = readdirSync(path, { withFileTypes: true }).map(entry => {
    const type = entry.isDirectory() ? ('directory' as const) : entry.isFile() ? ('file' as const) : ('other' as const)
    const stats = statSync(join(path, entry.name), { throwIfNoEntry: false })
    return { name: entry.name, type, ...(stats && { size: stats.size, modified: Math.floor(stats.mtimeMs) }) }
  })
  return entries.toSorted(
    (one, other) => Number(other.type === 'directory') - Number(one.type === 'directory') || (one.name < other.name ? -1 : 1)
  )
}

/** With every link followed; what does not exist yet is judged by the nearest folder that does. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(real(above), basename(path))
  }
}

function isWithin(path: string, root: string): boolean {
  const below = relative(root, path)
  return below === '' || (below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below))
}
