import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacks } from '../kit/needs.ts'

/** Disks whose power can be cut: an ext4 in a file on an XFS, where a copy of that file is taken in one instant. */
export interface Disks {
  /** A new disk, mounted. */
  fresh(): Disk
  close(): void
}

export interface Disk {
  path: string
  /**
   * Cuts the power: what was not on the disk in this instant is gone. Returns the path of the disk as it is when the
   * power comes back, with its journal replayed; the first goes on, for whoever has files open on it.
   */
  cut(): string
  close(): void
}

/** Why this machine cannot do it; undefined when it can. */
export function disksProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'cutting the power of a disk needs root on Linux'
  const lacking = lacks('xfsprogs') || lacks('e2fsprogs')
  if (lacking) return lacking
  run('mkfs.xfs', '-V')
  run('mkfs.ext4', '-V')
  try {
    openDisks().close()
    return undefined
  } catch {
    return 'no disk can be mounted here: cutting its power needs loop devices'
  }
}

export function openDisks(): Disks {
  closeAbandoned()
  const folder = mkdtempSync(join(tmpdir(), `afield-disks-${process.pid}-`))
  const top = join(folder, 'top')
  const image = join(folder, 'xfs.img')
  mkdirSync(top)
  run('truncate', '-s', '800M', image)
  run('mkfs.xfs', '-q', '-m', 'reflink=1', image)
  run('mount', '-o', 'loop', image, top)
  let made = 0
  return {
    fresh() {
      made += 1
      return openDisk(folder, join(top, `${made}.img`), made)
    },
    close() {
      run('umount', top)
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Those of a process that was killed: their mounts would hold loop devices, and the space of the images, until the next start of the system. */
function closeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^afield-disks-(\d+)-/.exec(name)?.[1]
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue
    const folder = join(tmpdir(), name)
    // Servers may have outlived it, and go on with files that nobody else sees.
    for (const path of mountsIn(folder).toReversed()) run('umount', '--lazy', path)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In the order in which they were mounted. */
export function mountsIn(folder: string): string[] {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
  return paths.filter(path => path.startsWith(`${folder}/`))
}

function openDisk(folder: string, file: string, number: number): Disk {
  const mounted: string[] = []
  const mount = (image: string, name: string) => {
    const path = join(folder, `${number}-${name}`)
    mkdirSync(path)
    run('mount', '-o', 'loop', image, path)
    mounted.push(path)
    return path
  }
  run('truncate', '-s', '128M', file)
  run('mkfs.ext4', '-q', '-F', file)
  return {
    path: mount(file, 'before'),
    cut() {
      run('cp', '--reflink=always', file, `${file}.cut`)
      return mount(`${file}.cut`, 'after')
    },
    close() {
      for (const path of mounted) run('umount', path)
      for (const image of [file, `${file}.cut`]) rmSync(image, { force: true })
    }
  }
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
