/**
 * The command line of a session that the daemon begins, as it writes it: a command, its tag, and what is behind `--`. Undefined for any other
 * one, such as a person's: that is read by yargs, which takes 4 MB that a session would hold for days.
 */
export function readStartedLine(argv: readonly string[]) {
  const [name, option, tag, dashes, ...rest] = argv
  if (name === undefined || option !== '--tag' || tag === undefined || (dashes !== undefined && dashes !== '--')) return undefined
  return { name, args: { _: [name], $0: 'afield', tag, '--': rest } }
}
