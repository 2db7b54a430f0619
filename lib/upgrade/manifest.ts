import * as v from '../schema.ts'

/** The names of the manifest and its signature, beside the programs that the manifest lists. */
export const manifestName = 'latest.json'
export const signatureName = `${manifestName}.minisig`

const version = v.pipe(v.string(), v.regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,50})?$/, 'must be a version such as 0.2.0'))
const moment = v.pipe(v.string(), v.isoTimestamp())

/** `latest.json`: what a release consists of. Its signature makes the digests in it trustworthy, and so the programs. */
export const releaseManifest = v.object({
  version,
  createdAt: moment,
  /** From then on it is rejected: otherwise someone could offer an old release forever, and hide that there is a newer one. */
  expiresAt: moment,
  files: v.pipe(
    v.array(
      v.object({
        // A name, never a path.
        name: v.pipe(v.string(), v.regex(/^[\w-][\w.+-]{0,100}$/, 'must be a file name')),
        platform: v.pipe(v.string(), v.regex(/^(linux|darwin|win)-(x64|arm64)$/, 'must be a platform such as linux-x64')),
        size: v.pipe(v.int(), v.minValue(1), v.maxValue(1024 * 1024 * 1024)),
        sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
      })
    ),
    v.maxLength(100)
  )
})

export type ReleaseManifest = v.InferOutput<typeof releaseManifest>
export type ReleaseFile = ReleaseManifest['files'][number]

/** The platform of this program, as a manifest names it. */
export function thisPlatform(): string {
  return `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
}

/** Above 0 if `one` is the later version. A pre-release such as 0.2.0-rc.1 is earlier than 0.2.0. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [partsOf(one), partsOf(other)]
  const byNumbers = first.numbers.map((number, index) => number - (second.numbers[index] ?? 0)).find(difference => difference !== 0)
  if (byNumbers !== undefined) return byNumbers
  if (first.rest === '' || second.rest === '') return (first.rest === '' ? 1 : 0) - (second.rest === '' ? 1 : 0)
  return first.rest.localeCompare(second.rest, 'en', { numeric: true })
}

function partsOf(version: string): { numbers: number[]; rest: string } {
  const [numbers = '', ...rest] = version.split('-')
  return { numbers: numbers.split('.').map(Number), rest: rest.join('-') }
}
