/** The newest version of each agent that was run with all that is used of it. Another patch of these is taken to be the same. */
export const newestTested: Readonly<Record<string, string>> = { claude: '2.1.329', codex: '0.169.0', opencode: '1.18.33' }

/** How a version stands to the ones that were tested; undefined for an agent of which none was, or a version that says nothing. */
export function comparedToTested(agent: string, version: string | undefined): 'tested' | 'newer' | 'older' | undefined {
  const [triedMajor, triedMinor] = numbersOf(newestTested[agent] ?? '')
  const [major, minor] = numbersOf(version ?? '')
  if (triedMajor === undefined || triedMinor === undefined || major === undefined || minor === undefined) return undefined
  if (major === triedMajor && minor === triedMinor) return 'tested'
  return major > triedMajor || (major === triedMajor && minor > triedMinor) ? 'newer' : 'older'
}

/** What to tell the person about a version that may be another than Afield knows. */
export function newerThanTested(agent: string, title: string, version: string | undefined): string | undefined {
  if (comparedToTested(agent, version) !== 'newer') return undefined
  return `${title} ${version} is newer than tested (${newestTested[agent]}). What is new in it may be missing on your phone.`
}

function numbersOf(version: string): number[] {
  return version
    .split('.')
    .slice(0, 2)
    .map(part => Number.parseInt(part, 10))
    .filter(Number.isInteger)
}
