import type { SessionHandlers } from '../../../client/calls/calls.ts'
import { findProgram } from '../../../program-in-path.ts'
import type { Confinement } from '../../home/confinement.ts'
import { type AllowedOptions, readOptions } from './allowed-options.ts'
import { rankPaths } from './file-names.ts'
import { folderOf } from './git-place.ts'
import { gitIn, runProgram } from './git-program.ts'
import { readGitGrep, readRipgrep, searchWalking, type TextAsked } from './text-search.ts'
import { walk } from './walk.ts'

interface SearchOptions {
  confinement(): Confinement
  env: Readonly<Record<string, string | undefined>>
}

const mostPaths = 50_000
const mostBytes = 16 * 1024 * 1024
const defaultLimit = 100

/** Finds files by name and content in the folder of a session: with ripgrep, with git, or on its own. */
export function searchMethods({ confinement, env }: SearchOptions): Pick<SessionHandlers, 'searchText' | 'findFiles' | 'difftastic'> {
  return {
    async searchText({ query, isRegex, isCaseSensitive, glob }) {
      const folder = folderOf(confinement())
      const asked = {
        query,
        isRegex: isRegex === true,
        isCaseSensitive: isCaseSensitive === true,
        glob: glob == null ? undefined : checkGlob(glob)
      }
      const ripgrep = findProgram('rg', env)
      if (ripgrep !== undefined) return searchWithRipgrep(ripgrep, folder, asked, env)
      if (await isInRepository(folder, env)) return searchWithGit(folder, asked, env)
      if (asked.isRegex)
        throw new Error('To search by a pattern, this computer needs ripgrep (rg), or the folder to be in a Git repository.')
      return searchWalking(folder, asked)
    },
    async findFiles({ query, limit }) {
      const folder = folderOf(confinement())
      const { paths, isCut } = await listFiles(folder, env)
      const found = rankPaths(paths, query)
      const most = limit ?? defaultLimit
      return { paths: found.slice(0, most), isCut: isCut || found.length > most }
    },
    async difftastic({ args, cwd }) {
      const allowed = confinement()
      const folder = allowed.check(cwd && cwd !== '/' ? cwd : '.')
      const program = findProgram('difft', env)
      if (program === undefined)
        return { success: false, exitCode: -1, stdout: '', stderr: '', error: 'difftastic (difft) is not installed on this computer.' }
      const { options, words } = readOptions(args, differenceOptions)
      allowed.checkWords(words, folder)
      const { exitCode, stdout, stderr, isCut } = await runProgram(program, [...options, '--', ...words], folder, env)
      return { success: exitCode === 0, exitCode, stdout: stdout.toString(), stderr, ...(isCut && { error: 'Command timed out' }) }
    }
  }
}

// The format of the diff. It reads nothing but the two files.
const differenceOptions: AllowedOptions = {
  switches: new Set(['--skip-unchanged', '--ignore-comments', '--check-only', '--exit-code']),
  values: {
    '--color': /^(never|auto|always)$/,
    '--background': /^(dark|light)$/,
    '--display': /^(inline|side-by-side|side-by-side-show-both)$/,
    '--syntax-highlight': /^(on|off)$/,
    '--width': /^\d{1,4}$/,
    '--tab-width': /^\d{1,2}$/,
    '--context': /^\d{1,6}$/
  },
  short: {}
}

function checkGlob(glob: string): string {
  if (glob.startsWith('/') || glob.split('/').includes('..') || glob.includes('\0'))
    throw new Error('A name pattern may not leave the folder of the session.')
  return glob
}

async function searchWithRipgrep(program: string, folder: string, asked: TextAsked, env: SearchOptions['env']) {
  const args = ['--json', '--no-config', '--hidden', '--no-follow', '--glob=!.git', '--max-count=50', '--sort=path']
  if (!asked.isRegex) args.push('--fixed-strings')
  args.push(asked.isCaseSensitive ? '--case-sensitive' : '--ignore-case')
  if (asked.glob !== undefined) args.push(`--glob=${asked.glob}`)
  const finished = await runProgram(program, [...args, `--regexp=${asked.query}`, '--', '.'], folder, env, { mostBytes })
  if (finished.exitCode === 2 && finished.stdout.length === 0) throw patternRefused(finished.stderr)
  return readRipgrep(finished.stdout.toString(), finished.isCut)
}

async function searchWithGit(folder: string, asked: TextAsked, env: SearchOptions['env']) {
  const args = [
    '-c',
    'grep.column=false',
    '-c',
    'grep.fullName=false',
    '-c',
    'grep.patternType=default',
    'grep',
    '--null',
    '-n',
    '-I',
    '--untracked'
  ]
  args.push('--no-color', '--no-textconv', '--no-recurse-submodules', asked.isRegex ? '-E' : '-F')
  if (!asked.isCaseSensitive) args.push('-i')
  const finished = await gitIn(folder, env).read([...args, '-e', asked.query, '--', '.'], { mostBytes })
  if (finished.exitCode > 1) throw patternRefused(finished.stderr)
  return readGitGrep(finished.stdout.toString(), asked, finished.isCut)
}

function patternRefused(stderr: string): Error {
  const said = stderr.split('\n').find(line => /error|fatal/i.test(line)) ?? stderr.split('\n')[0] ?? ''
  return new Error(`This cannot be searched for: ${said.replace(/^(rg|fatal|error): /, '').trim()}`)
}

async function listFiles(folder: string, env: SearchOptions['env']): Promise<{ paths: string[]; isCut: boolean }> {
  const ripgrep = findProgram('rg', env)
  const finished =
    ripgrep !== undefined
      ? await runProgram(ripgrep, ['--files', '--no-config', '--hidden', '--no-follow', '--null', '--glob=!.git', '--', '.'], folder, env, {
          mostBytes
        })
      : (await isInRepository(folder, env))
        ? await gitIn(folder, env).read(['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', '.'], {
            mostBytes
          })
        : undefined
  if (!finished) return walk(folder, mostPaths)
  const paths = finished.stdout.toString().split('\0').slice(0, -1)
  return {
    paths: paths.slice(0, mostPaths).map(path => path.replace(/^\.[\\/]/, '').replaceAll('\\', '/')),
    isCut: finished.isCut || paths.length > mostPaths
  }
}

async function isInRepository(folder: string, env: SearchOptions['env']): Promise<boolean> {
  if (findProgram('git', env) === undefined) return false
  const { stdout } = await gitIn(folder, env).read(['rev-parse', '--is-inside-work-tree'])
  return stdout.toString().trim() === 'true'
}
