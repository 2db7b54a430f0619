/**
 * Parses a command line that Afield itself starts: of a session (a command, its tag, and the arguments after `--`), or of the demo agent
 * (the folder of its conversations). Undefined for any other one, such as a person's: that is parsed by yargs, which takes long to load
 * and uses 4 MB that a session would hold for days.
 */
export function readStartedLine(argv: readonly string[]) {
  const [name, option, tag, dashes, ...rest] = argv
  if (name === 'demo-agent' && argv.length === 2 && !option?.startsWith('-'))
    return { name, args: { _: [name], $0: 'afield', state: option } }
  if (name === undefined || option !== '--tag' || tag === undefined || (dashes !== undefined && dashes !== '--')) return undefined
  return { name, args: { _: [name], $0: 'afield', tag, '--': rest } }
}
