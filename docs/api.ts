import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
const entries = {
  afield: 'lib/index.ts',
  'afield/client': 'lib/client/index.ts',
  'afield/contracts': 'test/contracts/index.ts'
}
/** Its schemas are described field by field in `docs/protocol.md`. */
const protocol = 'lib/protocol/index.ts'

/** The content of `docs/api.md`: every public name with its declaration, as the compiler emits it for embedders. */
export function apiPage(): string {
  mkdirSync(join(root, 'build'), { recursive: true })
  const out = mkdtempSync(join(root, 'build/api-'))
  try {
    emitDeclarations(out)
    const parts = Object.entries(entries).map(([name, entry]) => `## \`${name}\`\n\n${declarationsOf(out, entry).join('\n')}`)
    return `<!-- Made by \`node build.mjs docs\` from the declarations of the entry points of the package. -->

# Public names

A change here affects everyone who embeds Afield. The options of \`createServer\` are in [options.md](options.md), the wire format in
[protocol.md](protocol.md).

${parts.join('\n')}
## \`afield/protocol\`

The schemas of [protocol.md](protocol.md) and of the content of messages, with their types: ${namesOf(out, protocol)
      .map(name => `\`${name}\``)
      .join(', ')}.
`
  } finally {
    rmSync(out, { recursive: true })
  }
}

function emitDeclarations(out: string): void {
  const config = join(out, 'tsconfig.json')
  const files = [...Object.values(entries), protocol].map(entry => relative(out, join(root, entry)))
  const compilerOptions = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: out }
  writeFileSync(config, JSON.stringify({ extends: '../../tsconfig.json', files, include: [], exclude: [], compilerOptions }))
  const compiler = [process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', config]
  // The hooks that the test runner loads into every Node.js prevent the compiler from starting.
  const [program = '', ...args] = process.platform === 'win32' ? compiler : ['env', '-u', 'NODE_OPTIONS', ...compiler]
  // The type check reports errors; declarations are emitted regardless.
  try {
    execFileSync(program, args, { stdio: 'ignore' })
  } catch {}
}

function declarationsOf(out: string, entry: string): string[] {
  return namesOf(out, entry).map(name => `#### ${name}\n\n\`\`\`ts\n${declarationOf(out, entry, name)}\n\`\`\`\n`)
}

function namesOf(out: string, entry: string): string[] {
  return listsOf(read(out, entry), 'export')
    .flatMap(({ names }) => names)
    .toSorted()
}

/** The declaration of a public name, found by following re-exports from file to file. */
function declarationOf(out: string, file: string, name: string): string {
  const text = read(out, file)
  const own = text.split(betweenStatements).filter(statement => declared(statement) === name)
  if (own.length > 0) return own.join('').trim()
  const from = listsOf(text, 'export|import').find(({ names }) => names.includes(name))?.from
  if (from === undefined) throw new Error(`${name} is exported by ${file} and declared nowhere.`)
  return declarationOf(out, join(dirname(file), from), name)
}

// A statement begins with its comment. A comment in a union also starts at the margin, but no keyword follows it.
const betweenStatements = /(?<!\*\/\n)^(?=(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?(?:export|import|declare|interface|type|class|const) )/m

function declared(statement: string): string | undefined {
  return /^(?:export )?(?:declare )?(?:abstract )?(?:function|class|interface|type|const) (\w+)/m.exec(statement)?.[1]
}

function listsOf(text: string, keyword: string): { names: string[]; from: string }[] {
  const lists = new RegExp(`^(?:${keyword}) (?:type )?\\{([^}]*)\\} from '([^']+)'`, 'gm')
  return [...text.matchAll(lists)].map(([, list = '', from = '']) => ({
    names: list.split(',').map(name => name.trim().replace(/^type /, '')),
    from
  }))
}

function read(out: string, source: string): string {
  return readFileSync(join(out, source.replace(/\.ts$/, '.d.ts')), 'utf8')
}
