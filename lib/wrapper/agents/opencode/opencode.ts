import { CannotStart } from '../../../exit.ts'
import type { AgentKind, StartAgent } from '../agent.ts'
import { findOpencode, screenIfAny } from '../programs.ts'
import { withPermissionRules } from './permissions.ts'
import { NotShared, Refused } from './refusals.ts'

interface OpencodeOptions {
  env: Readonly<Record<string, string | undefined>>
  tell(line: string): void
}

/**
 * The person's installed opencode: one server of ours, with its own screen at the terminal and the phone as
 * its clients.
 */
export function opencodeKind(options: OpencodeOptions): AgentKind {
  const title = 'opencode'
  return {
    flavor: 'opencode',
    title,
    program: { kind: 'opencode' },
    hasOwnScreen: true,
    async start(given) {
      const program = findOpencode(options.env)
      const how = { ...given, env: await withPermissionRules(program, given.directory, given.env) }
      try {
        return await startTogether(program, how, options)
      } catch (error) {
        if (!(error instanceof NotShared)) throw error
        options.tell(`This opencode cannot be shared between terminal and phone, so it runs on your phone only. ${error.message}`)
        const { startAcp } = await import('../acp/acp.ts')
        return startAcp({ command: program, args: ['acp'], title, isHeardAgain: true }, how)
      }
    }
  }
}

async function startTogether(program: string, how: StartAgent, { tell }: OpencodeOptions) {
  const { directory, env, signal } = how
  // In addition to undici, which no other agent needs.
  const { startServer } = await import('./server.ts')
  const server = await startServer({ program, directory, env, signal })
  try {
    const { startShared } = await import('./shared-opencode.ts')
    return await startShared({
      server,
      program,
      how: { ...how, screen: await screenIfAny(how.screen, { whose: 'the screen of opencode', tell }) }
    })
  } catch (error) {
    await server.end()
    throw error instanceof CannotStart ? error : new NotShared(whyNot(error))
  }
}

function whyNot(error: unknown): string {
  const isItsOwn = error instanceof NotShared || error instanceof Refused
  return isItsOwn ? error.message : 'Its server sent an answer that Afield does not understand.'
}
