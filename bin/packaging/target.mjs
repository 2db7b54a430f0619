import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * What a single-file program is made for: a platform and an architecture as Node.js names them, and a Node.js of them.
 * `name` is that of its files, such as linux-x64.
 */
export function targetOf(platform, arch, node) {
  return { platform, arch, node, name: `${platform === 'win32' ? 'win' : platform}-${arch}` }
}

export const thisMachine = targetOf(process.platform, process.arch, process.execPath)

export function isThisMachine({ platform, arch }) {
  return platform === process.platform && arch === process.arch
}

/** How a program of the target starts on this machine: the words before its name. Undefined if it cannot. */
export function emulatorOf({ platform, arch }) {
  if (isThisMachine({ platform, arch })) return []
  if (platform !== 'linux' || process.platform !== 'linux' || arch !== 'arm64') return undefined
  const qemu = pathOf('qemu-aarch64-static')
  return qemu && existsSync(join(arm64Libraries, 'lib/ld-linux-aarch64.so.1')) ? [qemu, '-L', arm64Libraries] : undefined
}

// Where Debian's libc6-arm64-cross and libstdc++6-arm64-cross put them.
const arm64Libraries = '/usr/aarch64-linux-gnu'

/** Where the system finds a program, if it has it. */
export function pathOf(program) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map(folder => join(folder, program))
    .find(file => existsSync(file))
}
