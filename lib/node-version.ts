import { CannotStart } from './exit.ts'

// Imported before anything else: better-sqlite3's addon crashes an older Node.js instead of throwing, and
// uWebSockets.js has no build for a newer one.
const sentence = versionRefusal(process.versions.node)
if (sentence !== undefined) throw new CannotStart(sentence)

/** Why Afield does not run on this version of Node.js, or undefined if it does. */
export function versionRefusal(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 26) return `Afield does not run on Node.js ${version} yet; use Node.js 24.`
  if (major > 22 || (major === 22 && minor >= 19)) return undefined
  return `Afield needs Node.js 22.19 or newer (24 is best), this is ${version}.`
}
