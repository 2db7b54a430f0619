import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundleApp, filesUnder } from '../../../web/bundle.mjs'
import { debianPackage } from '../deb.mjs'
import { binary, library } from '../packaging.mjs'
import { pathOf } from '../target.mjs'
import { compress, refuseWithoutArchivers } from './archives.mjs'
import { checksumsOf } from './checksums.mjs'
import { latestJson, refuseToGoBack } from './manifest.mjs'
import { macTarget, pinnedTargets } from './nodes.mjs'
import { billOfMaterials, bundledPackages, licencesOfProgram } from './sbom.mjs'
import { publicKeyOf, refuseToSignWithout, sign } from './signature.mjs'
import { tableOf } from './table.mjs'
import { tryOut } from './trial.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const at = (...parts) => join(root, ...parts)

const help = `npm run release -- [options]   makes everything that is published of this version, in release/

  --sign-key <file>    minisign's secret key that signs it; without a key the programs cannot upgrade themselves
  --public-key <file>  the public key to build in, if you sign elsewhere
  --previous <file>    the latest.json that is published, below whose version no release may go
  --valid-days <days>  how long latest.json is valid (365)
  --darwin <folder>    an unpacked Node.js for macOS, once for each architecture
  --out <folder>       another place than release/
  --dirty              also with uncommitted changes, for a try

docs/releasing.md has the whole procedure.`

/** Makes everything that is published of a version, in `release/`; docs/releasing.md says how it is used. */
export async function release(...args) {
  if (args.includes('--help')) return console.log(help)
  const began = performance.now()
  const options = optionsFrom(args)
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  const targets = [...pinnedTargets(), ...options.darwin.map(macTarget)]
  refuseWithoutArchivers()
  if (options.signKey) refuseToSignWithout(options.signKey)
  for (const previous of [options.previous, join(options.out, 'latest.json')]) if (previous) refuseToGoBack(version, previous)
  refuseToReplace(options.out)
  const releaseKey = publicKeyOf(options)
  const revision = { version, ...commitOf(options.dirty) }

  // Moved to its place when it is whole.
  mkdirSync(at('build'), { recursive: true })
  const folder = mkdtempSync(at('build/release-'))
  chmodSync(folder, 0o755)
  const step = sentence => console.log(`[${((performance.now() - began) / 1000).toFixed(0)} s] ${sentence}`)
  step('the app and the package for npm')
  await bundleApp()
  await library()
  const rows = [packageForNpm(folder)]
  const programs = []
  for (const target of targets) {
    step(`the program for ${target.name}`)
    const program = await programOf(target, folder, { ...revision, releaseKey })
    programs.push(program)
    rows.push(...program.rows)
    step(`the program for ${target.name} is compressed`)
    rows.push(rowOf('compressed', compress(program.file, target, revision.seconds), 'not unpacked and run'))
  }
  for (const arch of ['x64', 'arm64']) if (!targets.some(({ name }) => name === `darwin-${arch}`)) rows.push(absentMac(arch))
  step('licences, packages for Debian, container')
  const licences = join(folder, 'licences.txt')
  writeFileSync(licences, licencesOfProgram(targets[0]))
  for (const { target, file } of programs.filter(program => program.target.platform === 'linux')) {
    rows.push(packageForDebian(folder, { target, file, licences, ...revision }))
  }
  rows.push(container(folder, programs, licences))
  rows.push(bill(folder, targets, revision))
  await finish(folder, { programs, rows, releaseKey, options, ...revision })
  moveTo(options.out, folder)
  step(`${relative(process.cwd(), options.out) || '.'} is ready`)
  console.log(`\n${readFileSync(join(options.out, 'README.md'), 'utf8')}`)
}

function optionsFrom(args) {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: at('release') },
      'sign-key': { type: 'string' },
      'public-key': { type: 'string' },
      previous: { type: 'string' },
      'valid-days': { type: 'string', default: '365' },
      darwin: { type: 'string', multiple: true, default: [] },
      dirty: { type: 'boolean', default: false }
    }
  })
  const validDays = Number(values['valid-days'])
  if (!Number.isInteger(validDays) || validDays < 1) throw new Error('--valid-days needs a whole number of days.')
  if (values.previous && !existsSync(values.previous)) throw new Error(`There is no file ${values.previous}, which --previous names.`)
  const { out, darwin, dirty, previous } = values
  return { out: resolve(out), darwin, dirty, previous, validDays, signKey: values['sign-key'], publicKey: values['public-key'] }
}

/** The commit, and the seconds of its time, which is that of everything in the release. */
function commitOf(mayBeDirty) {
  const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
  const isDirty = git('status', '--porcelain') !== ''
  if (isDirty && !mayBeDirty)
    throw new Error('There are uncommitted changes, so nobody could make this release again. Commit them, or try with --dirty.')
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct'))
  return { commit: `${git('rev-parse', 'HEAD')}${isDirty ? ', with uncommitted changes' : ''}`, seconds }
}

function rowOf(what, file, seen) {
  return { what, file: basename(file), bytes: statSync(file).size, seen }
}

function packageForNpm(folder) {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: at('dist'), encoding: 'utf8' })
  )
  return rowOf('package for npm', join(folder, filename), 'not installed here; `test/package.test.ts` does it')
}

async function programOf(target, folder, { version, releaseKey }) {
  const file = join(folder, `afield-${version}-${target.name}${target.platform === 'win32' ? '.exe' : ''}`)
  await binary(target, { executable: file, releaseKey })
  const isUnsigned = target.platform === 'darwin' && !pathOf('codesign') && !pathOf('ldid')
  const seen = `${await tryOut(file, target, version)}${isUnsigned ? '; not signed, which Apple silicon requires' : ''}`
  return { target, file, platform: target.name, rows: [rowOf(`program for ${target.name}`, file, seen)] }
}

function absentMac(arch) {
  return { what: `program for darwin-${arch}`, seen: 'not made, not run: `--darwin` names a folder with a Node.js for it' }
}

function packageForDebian(folder, { target, file, licences, version, seconds }) {
  const what = `package for Debian, ${target.arch}`
  if (!pathOf('dpkg-deb')) return { what, seen: 'not made: dpkg-deb is missing' }
  return rowOf(what, debianPackage({ binary: file, version, arch: target.arch, out: folder, licences, seconds }), 'not installed here')
}

/** What `docker build` and `docker compose up` need, in one folder. */
function container(folder, programs, licences) {
  const context = join(folder, 'container')
  cpSync(at('bin/packaging/release/container'), context, { recursive: true })
  linkSync(licences, join(context, 'licences.txt'))
  for (const [arch, name] of Object.entries({ amd64: 'linux-x64', arm64: 'linux-arm64' })) {
    mkdirSync(join(context, arch))
    linkSync(programs.find(({ platform }) => platform === name).file, join(context, arch, 'afield'))
  }
  return { what: 'container, with Dockerfile and compose.yaml', file: 'container/', seen: 'not built here' }
}

function bill(folder, targets, { version, seconds }) {
  const bundled = new Set(targets.flatMap(target => [...bundledPackages(target)]))
  const file = join(folder, `afield-${version}.cdx.json`)
  writeFileSync(file, `${JSON.stringify(billOfMaterials({ version, seconds, targets, bundled }), null, 2)}\n`)
  return rowOf('bill of materials, CycloneDX 1.5', file, '')
}

/** What names the other files, and the signatures. */
async function finish(folder, { programs, rows, releaseKey, options, version, commit, seconds }) {
  const manifest = latestJson({ version, seconds, validDays: options.validDays, programs })
  const latest = join(folder, 'latest.json')
  writeFileSync(latest, `${JSON.stringify(manifest, null, 2)}\n`)
  if (releaseKey) writeFileSync(join(folder, 'release-key.pub'), releaseKey)
  const { expiresAt } = manifest
  writeFileSync(
    join(folder, 'README.md'),
    tableOf({
      version,
      commit,
      rows,
      tools: toolsUsed(),
      isSigned: options.signKey !== undefined,
      hasKey: releaseKey !== undefined,
      expiresAt
    })
  )
  const sums = join(folder, 'SHA256SUMS')
  writeFileSync(sums, checksumsOf(folder, filesUnder(folder)))
  if (!options.signKey) return
  for (const file of [latest, sums]) {
    sign(file, { signKey: options.signKey, publicKey: releaseKey, comment: `${basename(file)} of Afield ${version}` })
  }
}

/** Those whose version can change the bytes. */
function toolsUsed() {
  const ask = program => execFileSync(program, ['--version'], { encoding: 'utf8' })
  const asked = { npm: /[\d.]+/, xz: /\d[\w.]+/, strip: /\d+\.[\d.]+/, 'llvm-strip': /\d+\.\d[\w.]*/, 'dpkg-deb': /\d[\d.]+/ }
  const known = Object.entries(asked).filter(([program]) => pathOf(program))
  return [`Node.js ${process.versions.node}`, ...known.map(([program, version]) => `${program} ${version.exec(ask(program))?.[0]}`)]
}

/** An earlier release stays beside it under its version. */
function moveTo(out, folder) {
  mkdirSync(dirname(out), { recursive: true })
  if (existsSync(out)) renameSync(out, earlierPlace(out))
  renameSync(folder, out)
}

function earlierPlace(out) {
  return `${out}-${JSON.parse(readFileSync(join(out, 'latest.json'), 'utf8')).version}`
}

function refuseToReplace(out) {
  if (!existsSync(out)) return
  if (!existsSync(join(out, 'latest.json')))
    throw new Error(`${out} exists and is no release. Remove it, or name another folder with --out.`)
  if (existsSync(earlierPlace(out))) throw new Error(`${out} would be moved to ${earlierPlace(out)}, which exists too. Move one of them.`)
}
