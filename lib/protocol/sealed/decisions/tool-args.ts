import type { StepKind } from '../messages.ts'

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

/** The kind of an existing wrapper's tool, by its name; those wrappers do not send it. */
export function kindOf(name: string): StepKind {
  return kindByName[name.toLowerCase().replaceAll(/[^a-z]/g, '')] ?? 'other'
}

/** The command of a step, in any agent's format; undefined if it runs none. */
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

/** Where a command runs, if its agent says so. */
export function directoryOf(args: Args): string | undefined {
  for (const name of ['cwd', 'workdir', 'directory', 'working_directory']) {
    if (typeof args[name] === 'string') return args[name]
  }
  return undefined
}
