import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Why there can be no roots of Debian here; undefined if there can. */
export function rootsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'Only root can make roots of Debian.'
  if (spawnSync('debootstrap', ['--version']).error) return 'debootstrap is missing here.'
  return undefined
}

/** A minimal system of that release, with these packages; it is made once per folder. */
export function debianRoot(folder: string, suite: string, packages: readonly string[] = []): string {
  const root = join(folder, [suite, ...packages].join('-'))
  if (existsSync(root)) return root
  const unfinished = `${root}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : []
  execFileSync('debootstrap', ['--variant=minbase', ...include, suite, unfinished], { stdio: ['ignore', 'ignore', 'inherit'] })
  renameSync(unfinished, root)
  return root
}

/** Another of the same content, to change. */
export function copyOf(root: string, name: string): string {
  const copy = join(dirname(root), name)
  rmSync(copy, { recursive: true, force: true })
  execFileSync('cp', ['--archive', root, copy])
  return copy
}

const needed = ['libc6', 'libstdc++6', 'libgcc-s1']

/** A root with nothing but the C and C++ libraries of that system: no shell, no programs, no other files. */
export function librariesOf(root: string, name: string): string {
  const bare = join(dirname(root), name)
  rmSync(bare, { recursive: true, force: true })
  mkdirSync(join(bare, 'home'), { recursive: true })
  for (const link of ['lib', 'lib64']) {
    const target = readlinkSync(join(root, link))
    mkdirSync(join(bare, target), { recursive: true })
    symlinkSync(target, join(bare, link))
  }
  const listed = execFileSync('chroot', [root, 'dpkg', '--listfiles', ...needed], { encoding: 'utf8' }).split('\n')
  for (const file of listed) {
    if (!/\/lib(?:64)?\/.*\.so(?:\.|$)/.test(file) || lstatSync(join(root, file)).isDirectory()) continue
    mkdirSync(dirname(join(bare, file)), { recursive: true })
    cpSync(join(root, file), join(bare, file), { verbatimSymlinks: true })
  }
  return bare
}
