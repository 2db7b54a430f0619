import type { Mark, Subject } from './risk.ts'

/** Words of a command that run a file which this agent changed. Where each stands is enough: what it does nobody can tell. */
export function editedIn({ command = '', folder, directory, edited = [] }: Subject): Mark[] {
  if (edited.length === 0) return []
  const files = edited.map(path => tidy(absolute(path, folder)))
  const at = directory ?? folder
  const marks: Mark[] = []
  let isFirst = true
  let isRunner = false
  for (const { 0: word, index } of command.matchAll(/[;&|\n()]|[^\s;&|()]+/g)) {
    if (/^[;&|\n()]$/.test(word)) {
      isFirst = true
      continue
    }
    const plain = word.replaceAll(/["'\\]/g, '')
    const program = plain.split('/').at(-1) ?? plain
    const mark = { from: index, to: index + word.length }
    if (isFirst) {
      isRunner = runners.test(program)
      if (files.some(file => recipes.some(([name, by]) => by.test(program) && name.test(file.split('/').at(-1) ?? '')))) marks.push(mark)
    }
    if ((isFirst || isRunner) && files.includes(tidy(absolute(plain, at)))) marks.push(mark)
    isFirst = false
  }
  return marks
}

// A program that reads one of these runs what it says.
const recipes: readonly [file: RegExp, programs: RegExp][] = [
  [/^package\.json$/, /^(npm|pnpm|yarn|bun)$/],
  [/^(GNU)?[Mm]akefile$/, /^g?make$/],
  [/^\.?justfile$/i, /^just$/],
  [/^Taskfile\.ya?ml$/, /^task$/],
  [/^build\.rs$/, /^cargo$/],
  [/^(build|settings)\.gradle(\.kts)?$/, /^gradlew?$/],
  [/^(docker-)?compose\.ya?ml$|^Dockerfile$/, /^(docker|podman)$/],
  [/^(conftest|setup|noxfile|fabfile)\.py$/, /^(pytest|python[\d.]*|pip\d?|nox|fab)$/]
]
const runners = /^(ba|z|da|k|fi)?sh$|^(node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|source|\.|env|nohup|time|exec|command|xargs)$/

function absolute(path: string, folder: string | undefined): string {
  return /^([/~]|[A-Za-z]:[\\/])/.test(path) || folder === undefined ? path : `${folder.replace(/[/\\]+$/, '')}/${path}`
}

function tidy(path: string): string {
  const out: string[] = []
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') out.pop()
    else if (part !== '.' && part !== '') out.push(part)
  }
  return out.join('/')
}
