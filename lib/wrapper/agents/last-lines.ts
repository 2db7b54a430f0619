/** Of what a program wrote to its error output, the lines that help a person: without the steps it traces and the stacks of its errors. */
export function withoutTraces(text: string): string {
  return text
    .replace(thrownFrom, '')
    .split('\n')
    .map(line => line.replace(traced, '').trimEnd())
    .filter(line => line !== '' && !isNoise.test(line))
    .join('\n')
}

// Where Node.js found an error that nobody caught: the file, its line, and a mark below it.
const thrownFrom = /^\S+:\d+\n.*\n[ \t]*\^+[ \t]*$/gm
const traced = /^\[\w+\/\w+\] /
const isNoise = /^\w+=\S+( \w+=\S+)*$|^\s+at .+(:\d+:\d+|<anonymous>|native|index \d+)\)?( \{)?$|^Node\.js v\d+/
