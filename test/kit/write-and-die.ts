import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const calls = 'pwrite64,fdatasync,fsync,rename,unlink'

/** Runs a script of this folder to its end and counts its writes to the disk. */
export function countWrites(script: string, directory: string, log: string): number {
  const { status, stderr } = spawnSync('strace', [
    '-f',
    '-qq',
    '-o',
    log,
    '-e',
    `trace=${calls}`,
    process.execPath,
    pathOf(script),
    directory
  ])
  if (status !== 0) throw new Error(`${script} failed: ${stderr}`)
  return readFileSync(log, 'utf8').match(/^\d+ +pwrite64\(/gm)?.length ?? 0
}

/** Runs it and kills it before its k-th write. */
export function dieAtWrite(script: string, directory: string, log: string, k: number): void {
  const inject = ['-e', 'trace=pwrite64', '-e', `inject=pwrite64:signal=KILL:when=${k}`]
  spawnSync('strace', ['-f', '-qq', '-o', log, ...inject, process.execPath, pathOf(script), directory])
}

function pathOf(script: string): string {
  return fileURLToPath(new URL(script, import.meta.url))
}
