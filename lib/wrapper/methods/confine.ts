import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Real folders in which a phone may work, and what in them is not for it. */
export interface Confinement {
  readonly roots: readonly string[]
  /**
   * The real path of what is asked for, whether it exists or not: links are followed, relative paths begin at the first
   * root. Throws, with a sentence for the phone, when it lies elsewhere.
   */
  check(path: string): string
  /** The same for what shall be changed: not what other programs run by themselves. */
  checkChange(path: string): string
}

/** `home` is the wrapper's own folder, whose keys are for nobody. */
export function confine(folders: readonly string[], home: string): Confinement {
  const roots = folders.map(real)
  const own = real(home)
  const check = (path: string) => {
    const asked = real(resolve(roots[0] ?? homedir(), path.replace(/^~(?=$|[\\/])/, homedir())))
    // The demo works in a folder of its own in there.
    const isOwn = isWithin(asked, own) && !roots.some(root => root !== own && isWithin(root, own) && isWithin(asked, root))
    if (isOwn) throw new Error('The folder of Afield itself is not for agents.')
    if (roots.some(root => isWithin(asked, root))) return asked
    throw new Error(`The folder ${path} is not on this computer's list of allowed ones.`)
  }
  return {
    roots,
    check,
    checkChange(path) {
      const asked = check(path)
      const segments = asked.split(sep)
      const git = segments.lastIndexOf('.git')
      const inGit = git < 0 ? undefined : segments[git + 1]
      if (inGit === 'hooks' || inGit === 'config') throw new Error('What Git runs by itself is not changed from a phone.')
      if (dirname(asked) === real(homedir()) && startFiles.has(basename(asked)))
        throw new Error('What a shell runs when it starts is not changed from a phone.')
      return asked
    }
  }
}

const startFiles = new Set([
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.kshrc',
  '.gitconfig',
  '.npmrc'
])

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
