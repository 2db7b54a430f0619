import * as z from 'zod'

/** Failures of these methods are told inside the result, as existing apps expect. */
const failed = z.looseObject({ success: z.literal(false), error: z.string() })
const path = z.string().max(4096)

export const folderEntry = z.looseObject({
  name: z.string(),
  type: z.enum(['file', 'directory', 'other']),
  size: z.number().optional(),
  modified: z.number().optional()
})

export interface TreeEntry {
  name: string
  path: string
  type: 'file' | 'directory'
  size?: number | undefined
  modified?: number | undefined
  children?: TreeEntry[] | undefined
}
const treeEntry: z.ZodType<TreeEntry> = z.looseObject({
  name: z.string(),
  path: z.string(),
  type: z.enum(['file', 'directory']),
  size: z.number().optional(),
  modified: z.number().optional(),
  get children() {
    return z.array(treeEntry).optional()
  }
})

/** Methods on files and commands, which sessions and machines share. `content` is base64, `hash` the SHA-256 in hex. */
export const fileCalls = {
  readFile: call(z.looseObject({ path }), z.union([z.looseObject({ success: z.literal(true), content: z.string() }), failed])),
  /** Without a hash the file must not be there yet. */
  writeFile: call(
    z.looseObject({ path, content: z.string(), expectedHash: z.string().nullish() }),
    z.union([z.looseObject({ success: z.literal(true), hash: z.string() }), failed])
  ),
  listDirectory: call(
    z.looseObject({ path }),
    z.union([z.looseObject({ success: z.literal(true), entries: z.array(folderEntry), path: path.optional() }), failed])
  ),
  getDirectoryTree: call(
    z.looseObject({ path, maxDepth: z.number().int().min(0).max(20) }),
    z.union([z.looseObject({ success: z.literal(true), tree: treeEntry }), failed])
  )
} as const

const output = z.looseObject({
  success: z.boolean(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  exitCode: z.number().optional(),
  error: z.string().optional()
})

export const shellCalls = {
  bash: call(z.looseObject({ command: z.string().max(64 * 1024), cwd: path.nullish(), timeout: z.number().positive().nullish() }), output),
  ripgrep: call(z.looseObject({ args: z.array(z.string().max(4096)).max(100), cwd: path.nullish() }), output)
} as const

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
