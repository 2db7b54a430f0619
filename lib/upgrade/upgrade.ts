import { rmSync } from 'node:fs'
import { CannotStart } from '../exit.ts'
import type { Progress } from '../local-socket/ask.ts'
import type { ServerOptions } from '../options.ts'
import { compareVersions } from './manifest.ts'
import { putInPlace, writeBeside } from './program-file.ts'
import { openRelease, type Release } from './release.ts'
import { goBack } from './rollback.ts'
import { becomesReady, findServer, othersRunning } from './running-server.ts'
import type { Supervisor } from './supervisor.ts'
import { tryAlone, tryOnCopy } from './trial.ts'

export type Tell = (step: string, progress?: Progress) => void

interface UpgradeAsk {
  source: string
  /** Public keys in the format of minisign. */
  keys: string
  /** The program to replace, and its version. */
  file: string
  version: string
  options: Pick<ServerOptions, 'data' | 'store'>
  /** Whether the new program is tried on a copy of the data first. */
  hasTrial: boolean
  /** How long the new server may take to serve, besides what its trial took. */
  readyWithinMs: number
  supervisorOf(pid: number): Promise<Supervisor | undefined>
  now: number
  tell: Tell
  /** Aborts it while nothing is replaced. */
  signal: AbortSignal
}

type Upgraded =
  | { type: 'current'; version: string }
  | { type: 'restarted'; version: string; service: string; others: number[] }
  /** Servers that this could not restart run the old version until a person restarts them. */
  | { type: 'installed'; version: string; others: number[] }

/**
 * Replaces the program by the one of a release, and restarts the server that a service manager runs. If the new one is not ready in time, the previous one
 * and its data are put back. Throws `CannotStart` if there was no upgrade, and says why and what is in place.
 */
export async function upgradeProgram(ask: UpgradeAsk): Promise<Upgraded> {
  const { file, options, tell } = ask
  tell('checking the release')
  const release = await openRelease(ask)
  const ahead = compareVersions(release.version, ask.version)
  if (ahead < 0) {
    throw new CannotStart(
      `The release is version ${release.version}, older than this ${ask.version}. To go back, use rollback. Nothing was changed.`
    )
  }
  const server = await findServer(options.data)
  // An upgrade that was killed after it had replaced the program did not restart the server: the next one does.
  const isBehind = server !== undefined && compareVersions(server.version, release.version) < 0
  if (ahead === 0 && !isBehind) return { type: 'current', version: ask.version }
  const supervisor = server && (await ask.supervisorOf(server.pid))
  const others = othersRunning(file, supervisor && server?.pid)
  const trialMs = ahead === 0 ? 0 : await replace(release, ask)
  if (!server || !supervisor) {
    return { type: 'installed', version: release.version, others: server ? [...new Set([server.pid, ...others])] : others }
  }
  const withinMs = ask.readyWithinMs + 3 * trialMs
  const reason = await restart(supervisor, options.data, release.version, withinMs, tell)
  if (reason === undefined) return { type: 'restarted', version: release.version, service: supervisor.name, others }
  throw await undo(reason, supervisor, ask)
}

/** How long its trial took, after which the new program is in place. */
async function replace(release: Release, ask: UpgradeAsk): Promise<number> {
  const { file, tell, signal } = ask
  const part = await writeBeside(file, release, { tell: progress => tell('writing the new program', progress), signal })
  try {
    const trialMs = await tryOut(part, release.version, ask)
    putInPlace(part, file)
    return trialMs
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

async function tryOut(part: string, version: string, { options, hasTrial, tell, signal }: UpgradeAsk): Promise<number> {
  const beganAt = performance.now()
  tell('trying the new program')
  const trial = await tryAlone(part, signal)
  if (trial.version !== version)
    throw new CannotStart(`The program says it is version ${trial.version}, its release ${version}. Nothing was changed.`)
  if (hasTrial) await tryOnCopy({ program: part, options, tell: progress => tell('trying it on a copy of the data', progress), signal })
  return performance.now() - beganAt
}

/** Undefined if the server became ready; otherwise why not. */
async function restart(supervisor: Supervisor, data: string, version: string, withinMs: number, tell: Tell): Promise<string | undefined> {
  tell(`restarting ${supervisor.name}`)
  try {
    await supervisor.restart()
  } catch (error) {
    return (error as Error).message
  }
  const isReady = await becomesReady(data, version, withinMs, () => tell(`waiting for ${version}`))
  return isReady ? undefined : `Version ${version} was not ready within ${Math.ceil(withinMs / 1000)} s.`
}

/** The sentence about a failed upgrade, and what is in place now. */
async function undo(reason: string, supervisor: Supervisor, { file, options, tell }: UpgradeAsk): Promise<CannotStart> {
  const failed = reason.replace(/\.?$/, '.')
  try {
    tell('going back')
    const { version } = await goBack({ file, options, supervisor, mayDiscard: false, tell, signal: new AbortController().signal })
    return new CannotStart(
      `${failed} Version ${version} is back in place and serves again. See the log of ${supervisor.name} for the cause.`,
      1
    )
  } catch (error) {
    return new CannotStart(`${failed} ${error instanceof Error ? error.message : error}`, 1, { cause: error })
  }
}
