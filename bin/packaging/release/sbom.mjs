import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licencesOf, packageFoldersOf } from '../../../web/bundle.mjs'
import { addonsOf, workOf } from '../packaging.mjs'
import { sha256Of } from './checksums.mjs'
import { lockedPackages } from './nodes.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const at = (...parts) => join(root, ...parts)

/**
 * The bill of materials of a release as CycloneDX: what npm says of each package that the programs contain or the package for npm
 * asks for, Node.js with the libraries in it, and the native addons.
 */
export function billOfMaterials({ version, seconds, targets, bundled }) {
  const whole = npmSbom()
  const asked = askedForPackages()
  const components = whole.components.filter(({ 'bom-ref': ref }) => asked.has(ref) || bundled.has(ref))
  refuseMissing(bundled, components)
  const own = { ...whole.metadata.component, type: 'application', name: 'afield', 'bom-ref': `afield@${version}` }
  const added = [nodeComponent(), ...targets.flatMap(addonComponents)]
  const refs = new Set([own, ...components, ...added].map(component => component['bom-ref']))
  const bill = {
    ...whole,
    serialNumber: undefined,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      tools: whole.metadata.tools,
      component: own
    },
    components: [...components, ...added].toSorted((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1)),
    dependencies: dependenciesAmong(whole.dependencies, refs, own['bom-ref'], added)
  }
  // Of the content, so that it is the same for the same release.
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex')
  const parts = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest)
  return { ...bill, serialNumber: `urn:uuid:${parts[1]}-${parts[2]}-8${parts[3]}-a${parts[4]}-${parts[5]}` }
}

function npmSbom() {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  return JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 1e9 }))
}

// Not with --omit dev, which leaves out some packages that a package for development also asks for.
function askedForPackages() {
  const asked = Object.entries(lockedPackages()).filter(([folder, { dev, devOptional }]) => folder !== '' && !dev && !devOptional)
  return new Set(asked.map(([folder, { name, version }]) => `${name ?? folder.replace(/^.*node_modules\//, '')}@${version}`))
}

function refuseMissing(bundled, components) {
  const listed = new Set(components.map(component => component['bom-ref']))
  const missing = [...bundled].filter(each => !listed.has(each))
  if (missing.length > 0) throw new Error(`The programs contain ${missing.join(', ')}, which package-lock.json lacks: run npm ci.`)
}

function dependenciesAmong(dependencies, refs, own, added) {
  return dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: [...dependsOn.filter(each => refs.has(each)), ...(ref === own ? added.map(each => each['bom-ref']) : [])].toSorted()
    }))
    .toSorted((one, other) => (one.ref < other.ref ? -1 : 1))
}

function nodeComponent() {
  const { node, modules: _modules, napi: _napi, ...libraries } = process.versions
  const part = ([name, version]) => ({ type: 'library', 'bom-ref': `node@${node}/${name}@${version}`, name, version })
  return {
    type: 'platform',
    'bom-ref': `node@${node}`,
    name: 'node',
    version: node,
    description: 'Node.js, whose program each single file is a copy of. The packages node-* hold it.',
    purl: `pkg:generic/node@${node}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
    components: Object.entries(libraries).map(part)
  }
}

function addonComponents(target) {
  return addonsOf(target).map(({ name, package: of, file }) => ({
    type: 'file',
    'bom-ref': `${target.name}/${name}`,
    name: `${target.name}/${name}`,
    description: `Native addon of ${of}`,
    hashes: [{ alg: 'SHA-256', content: sha256Of(file) }]
  }))
}

/** The packages, as name@version, of which there is code in a program or in the app; they must be those of the lockfile. */
export function bundledPackages(target) {
  const locked = lockedPackages()
  const names = foldersOf(target).map(folder => {
    const { name, version } = JSON.parse(readFileSync(at(folder, 'package.json'), 'utf8'))
    if (locked[folder]?.version !== version) {
      throw new Error(`${folder} is ${version}, and ${locked[folder]?.version ?? 'missing'} in package-lock.json: run npm ci.`)
    }
    return `${locked[folder].name ?? name}@${version}`
  })
  return new Set(names)
}

/** The licences of everything in a program. */
export function licencesOfProgram(target) {
  const inputs = Object.fromEntries(foldersOf(target).map(folder => [`${folder}/`, {}]))
  const node = readFileSync(join(dirname(target.node), '../LICENSE'), 'utf8').trim()
  return `${licencesOf({ inputs })}\n\n${'-'.repeat(72)}\n\nNode.js ${process.versions.node}\n\n${node}\n`
}

function foldersOf(target) {
  const ofCode = [join(workOf(target), 'program.json'), at('build/app.json')].flatMap(file => packageFoldersOf(inputsOf(file)))
  return [...new Set([...ofCode, ...addonsOf(target).map(addon => `node_modules/${addon.package}`)])].toSorted()
}

/** The app's metafile has only its outputs. */
function inputsOf(file) {
  const metafile = JSON.parse(readFileSync(file, 'utf8'))
  return metafile.inputs ?? Object.assign({}, ...Object.values(metafile).map(output => output.inputs))
}
