import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Real folders in which a phone may work, and exceptions within them. */
export interface Confinement {
  readonly roots: readonly string[]
  /**
   * The real path of a request, whether it exists or not: links are followed, relative paths start at the
   * first root. Throws, with a sentence for the phone, if it is elsewhere.
   */
  check(path: string): string
  /** The same for changes: not files that other programs execute automatically. */
  checkChange(path: string): string
  /**
   * Throws like `check` if one of these arguments for a program in `folder` names an existing file that is
   * elsewhere.
   */
  checkWords(words: readonly string[], folder: string): void
}

/** `home` is the wrapper's own folder, whose keys are off limits. */
export function confine(folders: readonly string[], home: string): Confinement {
  const roots = folders.map(real)
  const own = real(home)
  const check = (path: string) => {
    const asked = real(resolve(roots[0] ?? homedir(), path.replace(/^~(?=$|[\\/])/, homedir())))
    // The demo works in its own folder there.
    const isOwn = isWithin(asked, own) && !roots.some(root => root !== own && isWithin(root, own) && isWithin(asked, root))
    if (isOwn) throw new Error('Agents may not use Afield’s own folder.')
    if (roots.some(root => isWithin(asked, root))) return asked
    throw new Error(`The folder ${path} is not allowed on this computer.`)
  }
  return {
    roots,
    check,
    checkChange(path) {
      const asked = check(path)
      const segments = asked.split(sep).map(segment => segment.toLowerCase())
      // Such a name can also be a file that points Git to another folder.
      if (segments.includes('.git')) throw new Error('Files that Git runs cannot be changed from a phone.')
      if (startsByItself(asked)) throw new Error('Files that run at sign-in cannot be changed from a phone.')
      return asked
    },
    checkWords(words, folder) {
      for (const word of words) {
        const there = placeOf(isAbsolute(word) ? word : `${folder}${sep}${word}`)
        if (there !== undefined) check(there)
      }
    }
  }
}

function startsByItself(path: string): boolean {
  const below = relative(real(homedir()), path)
    .split(sep)
    .map(segment => segment.toLowerCase())
  return startFiles.has(below.join('/')) || startFolders.some(folder => folder.every((segment, at) => below[at] === segment))
}

// Of shells, and of programs that read commands from their settings.
const startFiles = new Set([
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.xprofile',
  '.xsession',
  '.pam_environment',
  '.gitconfig',
  '.npmrc',
  '.config/nushell/config.nu',
  '.config/nushell/env.nu'
])
const startFolders = [
  ['.ssh'],
  ['.config', 'fish'],
  ['.config', 'git'],
  ['.config', 'systemd'],
  ['.config', 'environment.d'],
  ['.config', 'autostart'],
  ['.config', 'powershell'],
  ['documents', 'powershell'],
  ['documents', 'windowspowershell'],
  ['library', 'launchagents']
]

/** Where the computer would look, which follows a link before a following `..`. */
function placeOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** With every link followed; a missing path is judged by its nearest existing folder. */
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
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
