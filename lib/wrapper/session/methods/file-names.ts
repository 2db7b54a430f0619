/** The paths that contain the letters of the query in order; those with adjacent letters in the file name come first. */
export function rankPaths(paths: readonly string[], query: string): string[] {
  const wanted = query.trim().toLowerCase()
  if (wanted === '') return paths.toSorted((one, other) => depthOf(one) - depthOf(other) || compare(one, other))
  const ranked = paths.flatMap(path => {
    const rank = rankOf(path.toLowerCase(), wanted)
    return rank === undefined ? [] : [{ path, rank }]
  })
  return ranked
    .toSorted((one, other) => one.rank - other.rank || one.path.length - other.path.length || compare(one.path, other.path))
    .map(({ path }) => path)
}

function rankOf(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name === wanted) return 0
  if (name.startsWith(wanted)) return 1
  if (name.includes(wanted)) return 2
  if (path.includes(wanted)) return 3
  return holdsInOrder(path, wanted) ? 4 : undefined
}

function holdsInOrder(path: string, wanted: string): boolean {
  let at = 0
  for (const letter of wanted) {
    at = path.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

function depthOf(path: string): number {
  return path.split('/').length
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
