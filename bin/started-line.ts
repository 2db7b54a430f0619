/**
 * Parses the command line of a session started by the daemon: a command, its tag, and the arguments after `--`. Undefined for any other
 * one, such as a person's: that is parsed by yargs, which uses 4 MB that a session would hold for days.
 */
export function readStartedLine(argv: readonly string[]) {
  const [name, option, tag, dashes, ...rest] = argv
  if (name === undefined || option !== '--tag' || tag === undefined || (dashes !== undefined && dashes !== '--')) return undefined
  return { name, args: { _: [name], $0: 'afield', tag, '--': rest } }
}
