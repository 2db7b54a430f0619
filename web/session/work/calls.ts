import { CallFailed, callSession } from '../../../lib/client/index.ts'
import { fromBase64, toBase64 } from '../../../lib/crypto/bytes.ts'
import type { ParamsOfCall, ResultOfCall, SessionCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { CommitOutcome, CommitView, GitDiff, GitStatus, LogEntry } from '../../../lib/protocol/sealed/calls/git.ts'
import type { FilesFound, TextFound } from '../../../lib/protocol/sealed/calls/search.ts'
import type { Live } from '../../model/account/live.ts'
import { shellDiff, shellStatus } from './shell.ts'

/** Calls to the machine about the folder of a session. All reject with `CallFailed`. */
export interface WorkCalls {
  status(): Promise<GitStatus>
  diff(file: DiffAsked): Promise<GitDiff>
  stage(paths: string[]): Promise<unknown>
  unstage(paths: string[]): Promise<unknown>
  commit(message: string): Promise<CommitOutcome>
  log(limit: number, skip: number): Promise<{ commits: LogEntry[]; hasMore: boolean }>
  show(commit: string): Promise<CommitView>
  searchText(asked: ParamsOfCall<'searchText'>): Promise<TextFound>
  findFiles(query: string): Promise<FilesFound>
  list(path: string): Promise<FolderEntry[]>
  read(path: string): Promise<Uint8Array<ArrayBuffer>>
  /** `expected`: the content that the file should have; `changed` if it has other content by now. */
  write(path: string, bytes: Uint8Array, expected: Uint8Array<ArrayBuffer>): Promise<'saved' | 'changed'>
}

export interface DiffAsked {
  readonly path: string
  readonly from?: string | undefined
  readonly commit?: string | undefined
  readonly load?: boolean | undefined
}

export interface FolderEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'other'
  readonly size?: number | undefined
}

export interface WorkSources {
  readonly id: string
  readonly live: Pick<Live, 'socket' | 'cipherOf'>
  /** The folder of the session on its machine. */
  readonly folder: () => string
  /** The methods that the session answers; undefined for existing wrappers, which do not report them. */
  readonly methods: () => readonly string[] | undefined
}

export function openWorkCalls({ id, live, folder, methods }: WorkSources): WorkCalls {
  const call = async <Name extends SessionCall>(method: Name, params: ParamsOfCall<Name>): Promise<ResultOfCall<Name>> => {
    const cipher = live.cipherOf(id)
    if (cipher === undefined) throw new CallFailed('unreadable', '')
    return callSession(live.socket, cipher, id, method, params)
  }
  const hasGit = () => methods()?.includes('gitStatus') === true
  const at = (path: string) => (path === '' ? folder() : `${folder()}/${path}`)
  const read = async (path: string) => {
    const { content } = took(await call('readFile', { path: at(path) }))
    const bytes = fromBase64(content)
    if (bytes === undefined) throw new CallFailed('unreadable', '')
    return new Uint8Array(bytes)
  }
  const shell = { run: (command: string) => call('bash', { command, cwd: '/' }), read }
  return {
    status: async () => (hasGit() ? call('gitStatus', {}) : shellStatus(shell)),
    diff: async asked => (hasGit() ? call('gitDiff', { ...asked }) : shellDiff(shell, asked)),
    stage: async paths => call('gitStage', { paths }),
    unstage: async paths => call('gitUnstage', { paths }),
    commit: async message => call('gitCommit', { message }),
    log: async (limit, skip) => call('gitLog', { limit, skip }),
    show: async commit => call('gitShow', { commit }),
    searchText: async asked => call('searchText', asked),
    findFiles: async query => call('findFiles', { query }),
    list: async path => took(await call('listDirectory', { path: at(path) })).entries,
    read,
    async write(path, bytes, expected) {
      const expectedHash = await hashOf(expected)
      try {
        took(await call('writeFile', { path: at(path), content: toBase64(bytes), expectedHash }))
      } catch (error) {
        if (error instanceof CallFailed && /hash mismatch/i.test(error.message)) return 'changed'
        throw error
      }
      return 'saved'
    }
  }
}

// File methods report failures inside their results.
function took<Answer extends { success: true } | { success: false; error: string }>(answer: Answer): Extract<Answer, { success: true }> {
  if (answer.success) return answer as Extract<Answer, { success: true }>
  throw new CallFailed('failed', answer.error)
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('')
}
