/** A command starts the message; a file starts a word. */
export function tokenAt(before: string): { kind: 'command' | 'file'; query: string } | undefined {
  const command = /^\/(\S*)$/.exec(before)
  if (command) return { kind: 'command', query: command[1] ?? '' }
  const file = /(?:^|\s)@(\S*)$/.exec(before)
  return file ? { kind: 'file', query: file[1] ?? '' } : undefined
}

const mostShown = 8

/** Those with the text in their names, prefix matches first. */
export function commandsLike(commands: readonly string[], query: string): string[] {
  const wanted = query.toLowerCase()
  const has = commands.filter(name => name.toLowerCase().includes(wanted))
  const begins = (name: string) => Number(!name.toLowerCase().startsWith(wanted))
  return has.sort((a, b) => begins(a) - begins(b)).slice(0, mostShown)
}

/** Those with the text in their paths. */
export function filesLike(paths: readonly string[], query: string): string[] {
  const wanted = query.toLowerCase()
  return paths.filter(path => path.toLowerCase().includes(wanted))
}
