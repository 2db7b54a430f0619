import type { SourceFile } from 'typescript/unstable/ast'
import { createVirtualFileSystem } from 'typescript/unstable/fs'
import { API } from 'typescript/unstable/sync'

/** Parses sources, by their path; resolves no import and checks no type. */
export function parse(texts: ReadonlyMap<string, string>): Map<string, SourceFile> {
  const compilerOptions = { noLib: true, noResolve: true, types: [], jsx: 'preserve', allowImportingTsExtensions: true, noEmit: true }
  const files = Object.fromEntries([...texts].map(([file, text]) => [`/${file}`, text]))
  const config = JSON.stringify({ compilerOptions, files: [...texts.keys()] })
  const api = new API({ cwd: '/', fs: createVirtualFileSystem({ ...files, '/tsconfig.json': config }) })
  try {
    const [project] = api.updateSnapshot({ openProjects: ['/tsconfig.json'] }).getProjects()
    return new Map(
      [...texts.keys()].map(file => {
        const source = project?.program.getSourceFile(`/${file}`)
        if (!source) throw new Error(`${file} could not be parsed.`)
        return [file, source]
      })
    )
  } finally {
    api.close()
  }
}
