import type { PlanEntry, StepContent, StepKind } from '../../lib/protocol/sealed/messages.ts'

type Args = Readonly<Record<string, unknown>>

const kindByName: Readonly<Record<string, StepKind>> = {
  read: 'read',
  readfile: 'read',
  notebookread: 'read',
  ls: 'search',
  list: 'search',
  listdirectory: 'search',
  glob: 'search',
  grep: 'search',
  search: 'search',
  ripgrep: 'search',
  websearch: 'fetch',
  webfetch: 'fetch',
  fetch: 'fetch',
  edit: 'edit',
  multiedit: 'edit',
  notebookedit: 'edit',
  write: 'edit',
  writefile: 'edit',
  createfile: 'edit',
  codexpatch: 'edit',
  codexdiff: 'edit',
  applypatch: 'edit',
  geminipatch: 'edit',
  delete: 'delete',
  move: 'move',
  bash: 'execute',
  shell: 'execute',
  execute: 'execute',
  codexbash: 'execute',
  geminibash: 'execute',
  runshellcommand: 'execute',
  think: 'think',
  todowrite: 'plan',
  updateplan: 'plan'
}

/** What a tool of an existing wrapper does, by its name; those say no kind. */
export function kindOf(name: string): StepKind {
  return kindByName[name.toLowerCase().replaceAll(/[^a-z]/g, '')] ?? 'other'
}

/** The command a step runs, whichever way its agent writes it down; undefined when it runs none. */
export function commandOf(args: Args): string | undefined {
  const command = args['command'] ?? args['cmd'] ?? args['script']
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || !command.every(word => typeof word === 'string')) return undefined
  const [shell = '', flag = '', script] = command
  const isShell = /(^|\/)(ba|z|da|fi)?sh$/.test(shell) && /^-[a-z]*c$/.test(flag) && command.length === 3
  return isShell && script !== undefined ? script : command.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function pathOf(args: Args): string | undefined {
  for (const name of ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'filename', 'file']) {
    if (typeof args[name] === 'string') return args[name]
  }
  return undefined
}

export function urlOf(args: Args): string | undefined {
  return typeof args['url'] === 'string' ? args['url'] : undefined
}

export function queryOf(args: Args): string | undefined {
  for (const name of ['pattern', 'query', 'regex', 'search', 'glob']) {
    if (typeof args[name] === 'string') return args[name]
  }
  return undefined
}

/** The changes a call asks for, from its arguments, for wrappers that send no diff. */
export function contentOfArgs(name: string, args: Args): StepContent[] {
  const path = pathOf(args) ?? ''
  if (Array.isArray(args['edits'])) return args['edits'].flatMap(edit => replacement(path, { ...edit }))
  if (typeof args['changes'] === 'object' && args['changes'] !== null) return ofChanges({ ...args['changes'] })
  if (kindOf(name) === 'edit' && typeof args['content'] === 'string') {
    // The file may have been there before: a whole new text is all that is known.
    return [{ type: 'diff', path, oldText: null, newText: args['content'] }]
  }
  return replacement(path, args)
}

function replacement(path: string, edit: Args): StepContent[] {
  const oldText = edit['old_string'] ?? edit['oldText'] ?? edit['old_text']
  const newText = edit['new_string'] ?? edit['newText'] ?? edit['new_text']
  if (typeof newText !== 'string') return []
  return [{ type: 'diff', path, oldText: typeof oldText === 'string' && oldText !== '' ? oldText : null, newText }]
}

// Codex: { path: { add: { content } } | { update: { old_content, new_content } } | { delete: { content } } }
function ofChanges(changes: Args): StepContent[] {
  return Object.entries(changes).flatMap(([path, change]): StepContent[] => {
    if (typeof change !== 'object' || change === null) return []
    const { add, update, modify, delete: removed } = change as Record<string, unknown>
    const changed: Args = { ...(typeof update === 'object' ? update : {}), ...(typeof modify === 'object' ? modify : {}) }
    if (isText(add, 'content')) return [{ type: 'diff', path, oldText: null, newText: add.content }]
    if (isText(removed, 'content')) return [{ type: 'diff', path, oldText: removed.content, newText: '' }]
    const oldText = changed['old_content']
    const newText = changed['new_content']
    if (typeof newText !== 'string') return []
    return [{ type: 'diff', path, oldText: typeof oldText === 'string' ? oldText : null, newText }]
  })
}

function isText<Name extends string>(value: unknown, name: Name): value is Record<Name, string> {
  return typeof value === 'object' && value !== null && name in value && typeof (value as Record<string, unknown>)[name] === 'string'
}

/** The plan a to-do tool writes down, for wrappers that send no plan of their own. */
export function planOfArgs(name: string, args: Args): PlanEntry[] | undefined {
  if (kindOf(name) !== 'plan') return undefined
  const list = args['todos'] ?? args['plan'] ?? args['entries']
  if (!Array.isArray(list)) return undefined
  const entries = list.flatMap((todo): PlanEntry[] => {
    const { content, step, status } = { ...todo } as Record<string, unknown>
    const text = content ?? step
    if (typeof text !== 'string') return []
    return [{ content: text, status: status === 'completed' || status === 'in_progress' ? status : 'pending' }]
  })
  return entries.length === 0 ? undefined : entries
}
