import type * as uWebSockets from 'uWebSockets.js'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { embeddedAddon, loadAddon, NoPlaceForAddons } from '../../../assets.ts'
import { CannotStart } from '../../../exit.ts'
import { lowerGlibcVersion } from './glibc.ts'

export type Uws = typeof uWebSockets

let loaded: Uws | undefined

/** uWebSockets.js, loaded at the first call. Throws CannotStart if it has no build for this system. */
export function loadUws(): Uws {
  loaded ??= fromProgram() ?? fromPackage()
  return loaded
}

function fromProgram(): Uws | undefined {
  try {
    return embeddedAddon('uws.node') as Uws | undefined
  } catch (error) {
    if (error instanceof NoPlaceForAddons) throw error
    return refuse(error)
  }
}

function fromPackage(): Uws {
  const require = createRequire(import.meta.url)
  try {
    return require('uWebSockets.js')
  } catch (error) {
    return relaxed(require) ?? refuse(error)
  }
}

// 13 to 18 ms, and only on a system with glibc 2.35 to 2.37, where the original addon does not load.
function relaxed(require: NodeJS.Require): Uws | undefined {
  if (!(glibcMinor() >= 35)) return undefined
  const addon = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
  const bytes = lowerGlibcVersion(readFileSync(join(dirname(require.resolve('uWebSockets.js')), addon)))
  return bytes && (loadAddon(bytes, 'uws.node') as Uws)
}

function refuse(error: unknown): never {
  throw new CannotStart(refusalOn(process.platform, process.arch, glibcMinor()), undefined, { cause: error })
}

/** The one sentence for a system the server does not run on; `glibc` is the minor version, NaN if there is none. */
export function refusalOn(platform: string, arch: string, glibc: number): string {
  if (platform === 'linux' && Number.isNaN(glibc)) {
    return 'The Afield server does not run on musl systems such as Alpine; use a system with glibc 2.35 or newer, such as Debian 12.'
  }
  if (platform === 'linux' && glibc < 35) {
    return `The Afield server needs glibc 2.35 or newer, this system has 2.${glibc}; Debian 12 and Ubuntu 22.04 are new enough.`
  }
  return `The Afield server cannot load its network library on ${platform} ${arch} with Node.js ${process.versions.node}; Node.js 24 on x64 or arm64 works.`
}

function glibcMinor(): number {
  if (process.platform !== 'linux') return Number.NaN
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return Number(report.header?.glibcVersionRuntime?.split('.')[1])
}
