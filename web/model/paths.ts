/** The home folder in its usual notation. */
export function shortPath(path: string, home: string | undefined): string {
  if (home === undefined || home === '/' || (path !== home && !path.startsWith(`${home}/`))) return path
  return `~${path.slice(home.length)}`
}

/** The parent of a path of either kind; undefined at the root. */
export function parentFolder(path: string): string | undefined {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
  if (cut < 0 || path === '/' || /^[a-z]:\\?$/i.test(path)) return undefined
  return cut === 0 ? '/' : /^[a-z]:$/i.test(path.slice(0, cut)) ? `${path.slice(0, cut)}\\` : path.slice(0, cut)
}

/** A path inside a folder. */
export function below(path: string, name: string): string {
  const line = path.includes('\\') ? '\\' : '/'
  return path.endsWith(line) ? path + name : path + line + name
}
