import * as v from '../../../schema.ts'

/** These methods report failures inside the result, as existing apps expect. */
const failed = v.looseObject({ success: v.literal(false), error: v.string() })
const path = v.text(4096)

export const folderEntry = v.looseObject({
  name: v.string(),
  type: v.picklist(['file', 'directory', 'other']),
  size: v.optional(v.number()),
  modified: v.optional(v.number())
})

export interface TreeEntry {
  name: string
  path: string
  type: 'file' | 'directory'
  size?: number | undefined
  modified?: number | undefined
  children?: TreeEntry[] | undefined
}
const treeEntry: v.GenericSchema<unknown, TreeEntry> = v.looseObject({
  name: v.string(),
  path: v.string(),
  type: v.picklist(['file', 'directory']),
  size: v.optional(v.number()),
  modified: v.optional(v.number()),
  children: v.optional(v.array(v.lazy(() => treeEntry)))
})

/** Methods on files and commands, which sessions and machines share. `content` is base64, `hash` the SHA-256 in hex. */
export const fileCalls = {
  readFile: call(v.looseObject({ path }), v.union([v.looseObject({ success: v.literal(true), content: v.string() }), failed])),
  /** Without a hash the file must not exist yet. */
  writeFile: call(
    v.looseObject({ path, content: v.string(), expectedHash: v.nullish(v.string()) }),
    v.union([v.looseObject({ success: v.literal(true), hash: v.string() }), failed])
  ),
  listDirectory: call(
    v.looseObject({ path }),
    v.union([v.looseObject({ success: v.literal(true), entries: v.array(folderEntry), path: v.optional(path) }), failed])
  ),
  getDirectoryTree: call(
    v.looseObject({ path, maxDepth: v.pipe(v.int(), v.minValue(0), v.maxValue(20)) }),
    v.union([v.looseObject({ success: v.literal(true), tree: treeEntry }), failed])
  )
} as const

const output = v.looseObject({
  success: v.boolean(),
  stdout: v.optional(v.string()),
  stderr: v.optional(v.string()),
  exitCode: v.optional(v.number()),
  error: v.optional(v.string())
})

export const shellCalls = {
  bash: call(
    v.looseObject({
      command: v.text(64 * 1024),
      cwd: v.nullish(path),
      timeout: v.nullish(v.pipe(v.number(), v.gtValue(0)))
    }),
    output
  ),
  ripgrep: call(v.looseObject({ args: v.pipe(v.array(v.text(4096)), v.maxLength(100)), cwd: v.nullish(path) }), output)
} as const

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
