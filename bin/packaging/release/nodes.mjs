import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { targetOf } from '../target.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const at = (...parts) => join(root, ...parts)

/** The targets whose Node.js package.json pins, with that Node.js. */
export function pinnedTargets() {
  return [
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['win32', 'x64']
  ].map(([platform, arch]) => {
    const { name } = targetOf(platform, arch)
    return targetOf(platform, arch, join(packageOf(`node-${name}`), 'bin', platform === 'win32' ? 'node.exe' : 'node'))
  })
}

/** The folder of a package of the lockfile; npm installs those of other systems only when told to. */
function packageOf(name) {
  const { version, integrity } = lockedPackages()[`node_modules/${name}`]
  const installed = at('node_modules', name)
  if (existsSync(join(installed, 'package.json'))) return installed
  const folder = at('build/nodes', `${name}-${version}`)
  if (existsSync(join(folder, 'package.json'))) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  console.log(`${name} ${version} from the registry`)
  const archive = join(folder, execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: folder, encoding: 'utf8' }).trim())
  const got = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (got !== integrity) throw new Error(`${name} ${version} of the registry is not the one in package-lock.json: ${got}.`)
  execFileSync('tar', ['xzf', archive, '--strip-components=1', '-C', folder])
  rmSync(archive)
  return folder
}

export function lockedPackages() {
  return JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages
}

/** The target of a folder with a Node.js for macOS, such as an unpacked download. It cannot be asked here, so its bytes are. */
export function macTarget(folder) {
  const node = ['node', 'bin/node'].map(name => join(folder, name)).find(file => existsSync(file))
  if (!node) throw new Error(`There is no node in ${folder}, nor in its folder bin.`)
  const bytes = readFileSync(node)
  const arch = bytes.readUInt32LE(0) === machO && architectures[bytes.readUInt32LE(4)]
  if (!arch) throw new Error(`${node} is not a program for macOS on x64 or arm64.`)
  if (!bytes.includes(`v${process.versions.node}`))
    throw new Error(`${node} is not Node.js ${process.versions.node}, which makes the release.`)
  return targetOf('darwin', arch, node)
}

const machO = 0xfeedfacf
const architectures = { 16777223: 'x64', 16777228: 'arm64' }
