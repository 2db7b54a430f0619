import { dirname, join } from 'node:path'
import type { Confinement } from '../../home/confinement.ts'

/**
 * The path of a file below the session's folder, as git expects it. A link at its end is not followed: git stores the target path of a link,
 * not the content. Throws, with a sentence for the phone, if it is elsewhere or belongs to git itself.
 */
export function placeOf(confinement: Confinement, path: string): string {
  const parts = path.split('/')
  if (path === '' || path.includes('\0') || (process.platform === 'win32' && /[\\:]/.test(path)))
    throw new Error('This is not a file path.')
  if (parts.some(part => part === '' || part === '.' || part === '..')) throw new Error(`${path} is outside the folder of this session.`)
  if (parts.some(part => part.toLowerCase() === '.git')) throw new Error('Git’s own files cannot be changed from a phone.')
  confinement.check(dirname(join(folderOf(confinement), path)))
  return path
}

/** The session's folder with all links resolved. */
export function folderOf({ roots }: Confinement): string {
  const [folder] = roots
  if (folder === undefined) throw new Error('No folder is allowed here.')
  return folder
}
